"""Exact cover with bounds, weights, colours and holes: packing puzzles, and covers in disguise.

In the order of all puzzles here:

- What it is: ``problem``; ``packing`` makes one of pieces and a box.
- How it is read: ``files``.
- How it is found in rules: ``recognition``.
- Search: ``search`` leads (read it first). ``reduction`` and ``probing`` make the problem smaller
  and cut it, ``choice`` chooses among the ``engines``.
- What is told: ``outcome``, which is also what a search keeps for a later process.
"""

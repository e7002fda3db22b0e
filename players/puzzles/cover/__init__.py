"""Exact cover with bounds, weights, colours and holes: packing puzzles, and covers in disguise.

In the order of all puzzles here:

- What it is: ``problem``; ``packing`` makes one of pieces and a box.
- How it is read: ``files``.
- How it is found in rules: ``recognition``.
- Search: ``search`` leads (read it first). ``reduction`` and ``probing`` make the problem smaller,
  ``branches`` cuts it, ``choice`` chooses among the ``engines``, ``saving`` keeps a search.
- What is told: ``outcome``.
"""

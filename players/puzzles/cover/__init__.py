"""Exact cover with bounds, weights, colours and holes: packing puzzles, and games that are covers.

Subpackages and modules, in the same order as for all puzzles here:

- The problem: ``problem``. ``packing`` makes a problem of pieces and a box.
- Files: ``files`` reads and writes problems.
- Rules: ``recognition`` finds a cover problem in the rules of a game.
- Search: ``search`` leads (read it first). ``reduction`` makes the problem smaller and splits it for the
  ``engines``.
- Results: ``outcome``, which is also what a search saves for a later process.
"""

"""BurrTools' puzzle files (.xmpuzzle): read, with their saved solutions, and written.

:func:`~players.puzzles.cover.xmpuzzle.reading.read_xmpuzzle` makes packing puzzles of a file's problems.
"""

"""The grids that puzzles live on: their cells, what touches what, all rotations and mirrors.

Each is a :class:`~players.puzzles.cover.packing.grids.grid.CellGrid`;
:func:`~players.puzzles.cover.packing.grids.registry.grid` finds one by its name.
"""

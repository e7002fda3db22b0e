"""Packing puzzles: pieces that fill a shape, on five grids, as cover problems; solutions without duplicates.

A :class:`~players.puzzles.cover.packing.puzzle.PackingPuzzle` becomes a
:class:`~players.puzzles.cover.packing.assembly.Packing`, which holds the cover problem to be searched;
:class:`~players.puzzles.cover.packing.search.Duplicates` keeps one solution of those that are turns and
reflections of each other. ``disassembly`` takes solutions apart.
"""

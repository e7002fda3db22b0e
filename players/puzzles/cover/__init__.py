"""Exact cover with bounds, weights, colours and holes: packing puzzles, and covers in disguise.

A puzzle becomes a :class:`~players.puzzles.cover.problem.CoverProblem`; an engine searches it.
"""

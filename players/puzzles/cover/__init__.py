"""Exact cover with bounds, weights, colours and holes: packing puzzles, and covers in disguise.

A puzzle becomes a :class:`~players.puzzles.cover.problem.CoverProblem`. A
:class:`~players.puzzles.cover.search.CoverSearch` makes it smaller, cuts it into branches, and has engines
search them: read that first.
"""

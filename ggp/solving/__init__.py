"""``ggp solve``: puzzles by the portfolio, by the frontier search, or as levels of Sokoban; whole games.

``solve_puzzle`` solves a puzzle, and ``view`` shows it. ``frontier_search`` and ``frontier_view`` are the
frontier search. ``levels`` solves files of Sokoban. ``strong`` makes and queries tables.
"""

"""``ggp solve``: puzzles by the portfolio, by the frontier search, or as levels of Sokoban; whole games.

``solve_puzzle`` solves a puzzle, and ``view`` shows it. ``frontier_search`` visits all states of one.
``levels`` solves files of Sokoban. ``strong`` makes and queries tables.
"""

"""``ggp solve``: puzzles by the portfolio, by the frontier search, as levels of Sokoban; whole games.

``team`` has processes solve a puzzle side by side and ``view`` shows it; ``frontier_search`` and
``frontier_view`` are the frontier search; ``levels`` solves files of Sokoban; ``strong`` makes tables
and asks them.
"""

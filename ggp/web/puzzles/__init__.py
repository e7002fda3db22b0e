"""The room of puzzles: games of one role and packing puzzles, solved live by processes of their own.

:mod:`~ggp.web.puzzles.routes` has the pages of games, :mod:`~ggp.web.puzzles.packings` those of packing
puzzles, whose pieces are shown in space.
"""

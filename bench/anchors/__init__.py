"""The player against engines made for one game: how strong is it beside those who know the game?

:mod:`~bench.anchors.connect_four` solves connect four exactly; :mod:`~bench.anchors.stockfish` is the bridge
to Stockfish; :mod:`~bench.anchors.match` plays.
"""

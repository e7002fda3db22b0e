"""The engines: each searches a cover problem in its own way, or (`memo`) counts its solutions unseen.

All but the memo are a :class:`~players.puzzles.cover.engines.engine.CoverEngine`; read that first.
"""

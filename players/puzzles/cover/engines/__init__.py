"""The engines: each searches a cover problem in its own way.

All are a :class:`~players.puzzles.cover.engines.engine.CoverEngine`.
"""

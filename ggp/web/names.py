"""The names of games, levels, puzzles and solvers that come along, kept for all rooms."""

from __future__ import annotations

from aiohttp import web

from ggp.answers.source import known_games, known_levels, known_puzzles
from ggp.web.kept import Kept


def known_solvers() -> list[str]:
    """The names of the solvers. To know them takes seconds the first time: they bring what they work with."""
    from players.puzzles.registry import SOLVERS

    return [solver.name for solver in SOLVERS]


class Names:
    """The lists of names, each made when it is first needed. To be used within one event loop."""

    def __init__(self) -> None:
        self.games = Kept(known_games)
        self.levels = Kept(known_levels)
        self.puzzles = Kept(known_puzzles)
        self.solvers = Kept(known_solvers)


KNOWN = web.AppKey("names", Names)

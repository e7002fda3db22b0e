"""All searches for pushes by name: those of the portfolio, and others for people who compare."""

from __future__ import annotations

from gdl.errors import GdlError
from players.puzzles.sokoban.rollouts.push_uct import PushUct
from players.puzzles.sokoban.search.best_first import (
    AStar,
    AStarGreedyBound,
    AStarSimple,
    GreedyGreedyBound,
    GreedySimple,
)
from players.puzzles.sokoban.search.bidirectional import Bidirectional
from players.puzzles.sokoban.search.ida import IdaStarGreedyBound, IdaStarSimple
from players.puzzles.sokoban.search.portfolio import ENTRIES, Entry
from players.puzzles.sokoban.search.push_search import PushSearch


def all_searches() -> list[type[PushSearch]]:
    """All searches that can be asked for by name: those of the portfolio first."""
    return [
        *(entry.kind for entry in ENTRIES),
        GreedySimple, GreedyGreedyBound,
        AStar, AStarSimple, AStarGreedyBound,
        IdaStarSimple, IdaStarGreedyBound,
        Bidirectional, PushUct,
    ]  # fmt: skip


def entries_named(name: str | None) -> list[Entry]:
    """The search of that name alone, all of the portfolio for None. Raises GdlError if there is none."""
    if name is None:
        return list(ENTRIES)
    kinds = all_searches()
    for kind in kinds:
        if kind.name == name:
            return [Entry(kind, 1.0, 1.0)]
    known = ", ".join(kind.name for kind in kinds)
    raise GdlError(f"there is no search {name!r} for Sokoban levels", remedy=f"the searches are {known}")

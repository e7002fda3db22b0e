"""The portfolio of searches for pushes: they take turns, and the first result counts (after the algorithm
portfolios of Huberman, Lukose and Hogg 1997)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from gdl.errors import GdlError
from players.companions import TurnTaker, next_turn
from players.puzzles.sokoban.lines import is_solved
from players.puzzles.sokoban.push_search import PushSearch, PushTask
from players.puzzles.sokoban.search.few_positions import SECONDS, FewPositions
from players.puzzles.sokoban.solution import Outcome

_LEAST_SLICE = 0.02
"""The least seconds of a turn."""
_SLICE_SHARE = 0.1
"""A turn takes this share of the time that the search has had, so that there are few turns."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A search of the portfolio.

    Attributes:
        kind: its class, or a function that loads and returns the class.
        weight: its share of the time.
        memory: its share of the memory.
        begin: CPU seconds of the other searches before it begins; it then catches up.
    """

    kind: type[PushSearch] | Callable[[], type[PushSearch]]
    weight: float
    memory: float
    begin: float = 0.0

    @property
    def search(self) -> type[PushSearch]:
        """The class of the search."""
        return self.kind if isinstance(self.kind, type) else self.kind()


def _backward() -> type[PushSearch]:
    from players.puzzles.sokoban.search.backward import Backward

    return Backward


def _fess() -> type[PushSearch]:
    from players.puzzles.sokoban.fess.search import Fess

    return Fess


ENTRIES = [
    Entry(FewPositions, 1.0, 0.0),
    Entry(_backward, 1.0, 0.25, SECONDS),
    Entry(_fess, 8.0, 0.75, SECONDS + 0.8),
]
"""The searches in the order of their begin. The first one needs no kernels; the others load theirs as they
begin. Weights come from measured success. ``fess`` begins when ``backward`` has had time for more than its
kernels: what that solves at all, it mostly solves in its first half second."""


def entries_named(name: str | None) -> list[Entry]:
    """Return the search of that name alone, or the whole portfolio for None. Raises GdlError if there is
    none."""
    if name is None:
        return list(ENTRIES)
    kinds = {entry.search.name: entry.kind for entry in ENTRIES}
    if name in kinds:
        return [Entry(kinds[name], 1.0, 1.0)]
    names = ", ".join(kinds)
    raise GdlError(f"there is no search {name!r} for Sokoban levels", remedy=f"the searches are {names}")


class SearchPortfolio(PushSearch):
    """Divides the time among the searches.

    Args:
        task: the task of the searches. The memory is divided among them.
        entries: the searches; by default all.

    Attributes:
        winner: the name of the search that has ended it; empty until then.
        full: the names of the searches whose memory is full; their time goes to the others.
    """

    name: ClassVar[str] = "portfolio"

    def __init__(self, task: PushTask, entries: Sequence[Entry] | None = None) -> None:
        super().__init__(task)
        self.winner = ""
        self.full: list[str] = []
        self._entries = list(ENTRIES if entries is None else entries)
        self._members: list[TurnTaker[PushSearch]] = []
        self._seconds = 0.0
        self._done_positions = 0
        if is_solved(task.geometry, task.start):
            self.outcome, self.optimal = Outcome.SOLVED, True

    @property
    def at_work(self) -> list[str]:
        """The names of the searches that have begun and have work left."""
        return [member.name for member in self._members]

    def step(self, deadline: float) -> bool:
        """See :class:`~players.companions.Stepwise`."""
        while not self.over and (now := time.monotonic()) < deadline:
            self._admit()
            if not self._members:
                self.outcome = Outcome.MEMORY_FULL if self.full else Outcome.GAVE_UP
                break
            member = next_turn(self._members)
            search, before = member.work, member.seconds
            ended = member.step(min(deadline, now + max(_LEAST_SLICE, _SLICE_SHARE * before)))
            self._seconds += member.seconds - before
            if search.outcome in (Outcome.SOLVED, Outcome.UNSOLVABLE):
                self.outcome, self.winner = search.outcome, search.name
                self.pushes, self.optimal = search.pushes, search.optimal
            elif ended:
                if search.outcome is Outcome.MEMORY_FULL:
                    self.full.append(search.name)
                self._members.remove(member)
                self._done_positions += search.positions
                search.close()
            self.positions = self._done_positions + sum(one.work.positions for one in self._members)
            self.bound = search.bound
        return self.over

    def close(self) -> None:
        """Free the memory of all searches."""
        for member in self._members:
            member.work.close()
        self._members = []

    def _admit(self) -> None:
        """Start the searches that are due; if none is running, start the next one."""
        while self._entries and (self._entries[0].begin <= self._seconds or not self._members):
            entry = self._entries.pop(0)
            task = self.task
            part = replace(task, memory=int(task.memory * entry.memory))
            kind = entry.search
            self._members.append(TurnTaker(kind.name, entry.weight, partial(kind, part)))

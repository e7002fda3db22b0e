"""The portfolio of searches for pushes: they take turns, and the first result counts (after the algorithm
portfolios of Huberman, Lukose and Hogg 1997)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gdl.errors import GdlError
from players.puzzles.sokoban.lines import is_solved
from players.puzzles.sokoban.search.few_positions import SECONDS, FewPositions
from players.puzzles.sokoban.search.push_search import PushSearch, PushTask, checked
from players.puzzles.sokoban.solution import Outcome

if TYPE_CHECKING:
    from players.puzzles.sokoban.fess.search import FessSearch

_LEAST_SLICE = 0.02
"""The least CPU seconds of a turn."""
_SLICE_SHARE = 0.1
"""A turn takes this share of the time that the search has had, so that there are few turns."""

_MOST_SQUARES = 1500
"""On larger maps the plan alone may take minutes, which cannot be interrupted."""


class _FeatureSpace(PushSearch):
    """FESS. A limit of pushes only matters once FESS has a solution: if that is too long, it gives up. It
    also gives up on maps of more than 1,500 squares."""

    name = "fess"

    def __init__(self, task: PushTask) -> None:
        checked(task)
        super().__init__(task)
        self._search: FessSearch | None = None

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`. The first slice also makes the plan and the dead sets."""
        if self.outcome is not Outcome.GOING_ON:
            return self.outcome
        if self.task.geometry.size > _MOST_SQUARES:
            self.outcome = Outcome.GAVE_UP
            return self.outcome
        if self._search is None:
            # Its kernels are only loaded for levels that need it.
            from players.puzzles.sokoban.fess.search import FessSearch

            self._search = FessSearch(self.task.geometry, self.task.start, self.task.memory)
        pushes = self._search.step(seconds)
        self.progress.positions = self._search.positions
        if pushes is not None:
            most = self.task.most_pushes
            self.pushes = pushes
            self.outcome = Outcome.SOLVED if most is None or len(pushes) <= most else Outcome.GAVE_UP
        elif self._search.full:
            self.outcome = Outcome.MEMORY_FULL
        elif self._search.exhausted:
            # It drops positions by rules of thumb, so this is not a proof.
            self.outcome = Outcome.GAVE_UP
        return self.outcome

    def close(self) -> None:
        """Free its memory."""
        self._search = None


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


def _a_star() -> type[PushSearch]:
    from players.puzzles.sokoban.search.best_first import AStar

    return AStar


def _backward() -> type[PushSearch]:
    from players.puzzles.sokoban.search.best_first import Backward

    return Backward


ENTRIES = [
    Entry(FewPositions, 1.0, 0.0),
    Entry(_backward, 1.0, 0.25, SECONDS),
    Entry(_FeatureSpace, 6.0, 0.75, SECONDS + 0.3),
]
"""The searches in the order of their begin. The first one needs no kernels; the others load theirs as they
begin. Weights come from measured success."""


def all_searches() -> list[type[PushSearch]]:
    """Return all searches that can be requested by name: those of the portfolio first."""
    return [*(entry.search for entry in ENTRIES), _a_star()]


def entries_named(name: str | None) -> list[Entry]:
    """Return the search of that name alone, or the whole portfolio for None. Raises GdlError if there is
    none."""
    if name is None:
        return list(ENTRIES)
    kinds = all_searches()
    for kind in kinds:
        if kind.name == name:
            return [Entry(kind, 1.0, 1.0)]
    names = ", ".join(kind.name for kind in kinds)
    raise GdlError(f"there is no search {name!r} for Sokoban levels", remedy=f"the searches are {names}")


class _Member:
    def __init__(self, entry: Entry, search: PushSearch) -> None:
        self.entry, self.search = entry, search
        self.seconds = 0.0


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
        self._members: list[_Member] = []
        self._seconds = 0.0
        self._done_positions = 0
        if is_solved(task.geometry, task.start):
            self.outcome, self.optimal = Outcome.SOLVED, True

    @property
    def at_work(self) -> list[str]:
        """The names of the searches that have begun and have work left."""
        return [member.search.name for member in self._members]

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`."""
        end = time.thread_time() + seconds
        while self.outcome is Outcome.GOING_ON and (left := end - time.thread_time()) > 0:
            self._admit()
            if not self._members:
                self.outcome = Outcome.MEMORY_FULL if self.full else Outcome.GAVE_UP
                break
            member = min(self._members, key=lambda one: one.seconds / one.entry.weight)
            began = time.thread_time()
            outcome = member.search.step(min(left, max(_LEAST_SLICE, _SLICE_SHARE * member.seconds)))
            used = max(time.thread_time() - began, 1e-4)
            member.seconds += used
            self._seconds += used
            if outcome in (Outcome.SOLVED, Outcome.UNSOLVABLE):
                self.outcome, self.winner = outcome, member.search.name
                self.pushes, self.optimal = member.search.pushes, member.search.optimal
            elif outcome is not Outcome.GOING_ON:
                if outcome is Outcome.MEMORY_FULL:
                    self.full.append(member.search.name)
                self._members.remove(member)
                self._done_positions += member.search.progress.positions
                member.search.close()
            self._report(member)
        return self.outcome

    def close(self) -> None:
        """Free the memory of all searches."""
        for member in self._members:
            member.search.close()
        self._members = []

    def _admit(self) -> None:
        """Start the searches that are due; if none is running, start the next one."""
        while self._entries and (self._entries[0].begin <= self._seconds or not self._members):
            entry = self._entries.pop(0)
            task = self.task
            memory = int(task.memory * entry.memory)
            search = entry.search(PushTask(task.knowledge, task.start, memory, task.most_pushes))
            self._members.append(_Member(entry, search))

    def _report(self, member: _Member) -> None:
        at_work = sum(one.search.progress.positions for one in self._members)
        self.progress.positions = self._done_positions + at_work
        self.progress.bound = member.search.progress.bound

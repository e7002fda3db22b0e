"""`PackingSearch`: the solutions of a packing puzzle, without duplicates, in slices of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.outcome import MOST_OPEN, CoverOptions, CoverResult, solutions
from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.duplicates import Duplicates
from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.problem import CoverError
from players.puzzles.cover.search import CoverSearch

Watch = Callable[[CoverResult], None]


class PackingSearch:
    """A `CoverSearch` of a puzzle, which keeps one of the solutions that are turns or reflections of each
    other.

    Args:
        puzzle: the puzzle.
        options: how to search; `first` counts the solutions that are kept.
        watch: called after each step with the result so far.
        every: keep turned and reflected solutions too.

    Raises:
        CoverError: the puzzle contradicts itself or is too large, or there is no engine for it.
    """

    def __init__(
        self,
        puzzle: PackingPuzzle,
        options: CoverOptions = CoverOptions(),
        watch: Watch | None = None,
        *,
        every: bool = False,
    ) -> None:
        self._begin(puzzle, options, watch, every)
        self._search = CoverSearch(self._problem, self._inner, self._watched)

    def _begin(self, puzzle: PackingPuzzle, options: CoverOptions, watch: Watch | None, every: bool) -> None:
        self.packing = Packing.of(puzzle)
        self.options = options
        self._watch = watch
        self._duplicates = None if every else Duplicates.of(self.packing)
        self._sieved = self._duplicates is not None and not self._duplicates.broken
        self._problem = self.packing.problem if self._duplicates is None else self._duplicates.problem
        self._inner = replace(options, delivers=True, first=None) if self._sieved else options
        self._kept = 0
        self._ready: list[NDArray[np.int32]] = []
        self._waiting: list[NDArray[np.int32]] = []
        """Solutions that were found after there were enough."""

    @property
    def over(self) -> bool:
        """Whether there is nothing left to do."""
        return (self._search.over and not self._waiting) or self._enough()

    def _enough(self) -> bool:
        return self._sieved and self.options.first is not None and self._kept >= self.options.first

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds). Returns whether there is more to do."""
        if not self._enough():
            self._search.step(deadline)
            self._sift()
            if self._watch is not None and self._sieved:
                self._watch(self.result())
        return not self.over

    def _sift(self) -> None:
        found = self._search.taken()
        kept = found if self._duplicates is None else self._duplicates.kept(found)
        if self._sieved:
            kept = self._waiting + kept
            room = None if self.options.first is None else self.options.first - self._kept
            kept, self._waiting = kept[:room], [] if room is None else kept[room:]
            self._kept += len(kept)
        if self.options.delivers:
            self._ready += kept

    def _watched(self, result: CoverResult) -> None:
        if self._watch is not None and not self._sieved:
            self._watch(result)

    def taken(self) -> list[NDArray[np.int32]]:
        """The solutions found since the last call, each ascending options of `packing`; none if they are only
        counted."""
        ready, self._ready = self._ready, []
        return ready

    def result(self) -> CoverResult:
        """What is known now; `solutions` are those that are kept."""
        result = self._search.result()
        if not self._sieved:
            return result
        complete = result.complete and not self._waiting
        progress = result.progress if complete else min(result.progress, MOST_OPEN)
        return replace(result, solutions=self._kept, complete=complete, progress=progress)

    def saved(self) -> dict[str, Any]:
        """What a later process needs to go on from here, for JSON. Take the solutions first."""
        waiting = [each.tolist() for each in self._waiting]
        head = {"kept": self._kept, "sieved": self._sieved, "waiting": waiting}
        return {"packing": head, "search": self._search.saved()}

    @classmethod
    def resumed(
        cls,
        puzzle: PackingPuzzle,
        saved: dict[str, Any],
        options: CoverOptions = CoverOptions(),
        watch: Watch | None = None,
        *,
        every: bool = False,
    ) -> Self:
        """The search of the same puzzle that was saved; raises CoverError for another's, or a damaged one."""
        search = cls.__new__(cls)
        search._begin(puzzle, options, watch, every)
        head, inner = saved.get("packing"), saved.get("search")
        if not isinstance(head, dict) or not isinstance(inner, dict):
            raise CoverError("what was saved is no search of a packing puzzle", remedy="begin anew")
        kept = head.get("kept")
        if head.get("sieved") is not search._sieved or type(kept) is not int or kept < 0:
            raise CoverError("the saved search is of another puzzle, or damaged", remedy="begin anew")
        search._search = CoverSearch.resumed(search._problem, inner, search._inner, search._watched)
        search._kept = kept
        search._waiting = solutions(head, "waiting", search.packing.problem.options)
        return search

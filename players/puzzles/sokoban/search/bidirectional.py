"""Bidirectional search: greedily backwards from the goals, breadth first forwards from the start, until they
meet (Pohl 1971; the forward part is a perimeter, Dillenburg and Nelson 1994)."""

from __future__ import annotations

from typing import ClassVar

from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.search.backward import Backward
from players.puzzles.sokoban.search.best_first import BestFirst
from players.puzzles.sokoban.search.push_search import Outcome, PushSearch, PushTask


class _Perimeter(BestFirst):
    """Forwards, breadth first."""

    name = "perimeter"
    weights = (1, 0)
    corral_budget = 0


class _FromGoals(Backward):
    name = "from-goals"


class Bidirectional(PushSearch):
    """Runs both in turns. It gives up where there are more goals than boxes."""

    name = "bidirectional"
    backwards: ClassVar[type[Backward]] = _FromGoals
    share: ClassVar[float] = 0.25
    """Of the time, for the forward search."""

    def __init__(self, task: PushTask) -> None:
        super().__init__(task)
        halves = [
            PushTask(task.knowledge, task.start, int(task.memory * part), task.most_pushes, task.seed)
            for part in (self.share, 1 - self.share)
        ]
        self._forth, self._back = _Perimeter(halves[0]), self.backwards(halves[1])

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`."""
        forth, back = self._forth, self._back
        if self.outcome is not Outcome.GOING_ON:
            return self.outcome
        for search, other, part in ((forth, back, self.share), (back, forth, 1 - self.share)):
            if search.outcome is not Outcome.GOING_ON:
                continue
            search.look_at(other)
            came_to = search.step(seconds * part)
            if came_to is Outcome.SOLVED:
                self.outcome, self.pushes = Outcome.SOLVED, self._joined(search, other)
                break
            ended = came_to in (Outcome.GAVE_UP, Outcome.MEMORY_FULL)
            if came_to is Outcome.UNSOLVABLE or (search is back and ended):
                self.outcome = came_to
                break
        self.progress.positions = forth.progress.positions + back.progress.positions
        self.progress.bound = back.progress.bound
        return self.outcome

    def _joined(self, search: BestFirst, other: BestFirst) -> list[Push]:
        meeting = search.meeting
        if meeting < 0:
            return search.pushes
        halves = search.pushes, other.line_to(meeting)
        return halves[0] + halves[1] if search is self._forth else halves[1] + halves[0]


class _CellsFromGoals(_FromGoals):
    name = "cells-from-goals"
    by_cells = True


class BidirectionalCells(Bidirectional):
    """Backwards, every second position is the nearest of a cell, the cells taking turns: a cell has the
    positions with so many boxes off the squares where they begin."""

    name = "bidirectional-cells"
    backwards = _CellsFromGoals

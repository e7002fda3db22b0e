"""Searches from the goals: greedy best-first by pulls from the goals to where the boxes begin (Takes 2008),
and bidirectional: the same, and breadth first forwards from the start, until they meet (Pohl 1971; the
forward part is a perimeter, Dillenburg and Nelson 1994)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from players.puzzles.sokoban.distances import FAR, start_distances
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.search.best_first import BestFirst
from players.puzzles.sokoban.search.matching import new_matching
from players.puzzles.sokoban.search.push_search import PushSearch, PushTask
from players.puzzles.sokoban.search.solution import Outcome
from propnet.jit.arrays import Int32s


class Backward(BestFirst):
    """Greedy best-first search by pulls, from every region that the keeper may end in.

    It gives up where there are more goals than boxes.
    """

    name = "backward"
    weights = (0, 1)
    pulling = True
    corral_budget = -1

    def _aim(self, boxes: Int32s) -> None:
        task = self.task
        goals = np.ascontiguousarray(task.geometry.goals, np.int32)
        distances = start_distances(task.geometry, task.start)
        self._matching = new_matching(distances)
        self._dead = (distances == FAR).all(axis=0).astype(np.uint8)
        if len(goals) != len(boxes):
            self.outcome = Outcome.GAVE_UP
            return
        held = set(goals.tolist())
        for keeper in range(task.geometry.size):
            if keeper not in held:
                self._add_root(goals, keeper)

    def line_to(self, node: int) -> list[Push]:
        """See :meth:`BestFirst.line_to`: the last pull is the first push."""
        neighbours = self.task.geometry.neighbours
        return [(int(neighbours[square, way]), way ^ 2) for square, way in reversed(super().line_to(node))]


class _Perimeter(BestFirst):
    """Forwards, breadth first."""

    name = "perimeter"
    weights = (1, 0)
    corral_budget = 0


class _CellsFromGoals(Backward):
    name = "cells-from-goals"
    by_cells = True


class BidirectionalCells(PushSearch):
    """Runs both in turns. It gives up where there are more goals than boxes.

    Backwards, every second position is the nearest of a cell, the cells taking turns. A cell has the
    positions with so many boxes off the squares where they begin.
    """

    name = "bidirectional-cells"
    share: ClassVar[float] = 0.25
    """Of the time, for the forward search."""

    def __init__(self, task: PushTask) -> None:
        super().__init__(task)
        halves = [
            PushTask(task.knowledge, task.start, int(task.memory * part), task.most_pushes)
            for part in (self.share, 1 - self.share)
        ]
        self._forth, self._back = _Perimeter(halves[0]), _CellsFromGoals(halves[1])

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

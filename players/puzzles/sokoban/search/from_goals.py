"""Searches from the goals: greedy best-first by pulls from the goals to where the boxes begin (Takes 2008),
and bidirectional: the same, and breadth first forwards from the start, until they meet (Pohl 1971; the
forward part is a perimeter, Dillenburg and Nelson 1994)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from players.puzzles.sokoban.distances import FAR, NO_SIDE, side_classes
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.search.best_first import BestFirst
from players.puzzles.sokoban.search.matching import new_matching
from players.puzzles.sokoban.search.push_search import Outcome, PushSearch, PushTask
from propnet.jit.arrays import Int32s, Octets
from propnet.jit.decorators import ARENA, kernel


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


def start_distances(geometry: Geometry, start: Position) -> Int32s:
    """Pushes that bring each box, alone on the map, to each square.

    Returns int32, shape (boxes, size + 1); FAR where there is no way.
    """
    rows = geometry.size + 1
    distances = np.full((len(start.boxes), rows, 4), FAR, np.int32)
    neighbours = np.ascontiguousarray(geometry.neighbours, np.int32)
    boxes = np.array(start.boxes, np.int32)
    _push(neighbours, side_classes(geometry), boxes, distances, np.zeros(4 * rows, np.int32))
    least: Int32s = distances.min(axis=2)
    least[np.arange(len(boxes)), boxes] = 0
    return least


@kernel(**ARENA)
def _push(neighbours: Int32s, sides: Octets, boxes: Int32s, distances: Int32s, queue: Int32s) -> None:
    """Breadth first by pushes from each box, with the keeper on any side of it. ``distances``: int32, shape
    (boxes, size + 1, 4), by the direction that the keeper is in. ``queue``: int32, shape (4 * (size + 1),),
    holds four times the square plus the class of sides."""
    outside = len(neighbours) - 1
    for number in range(len(boxes)):
        found = distances[number]
        head, tail = 0, 0
        for side in range(4):
            if sides[boxes[number], side] != NO_SIDE:
                found[boxes[number], side] = 0
                if sides[boxes[number], side] == side:
                    queue[tail] = 4 * boxes[number] + side
                    tail += 1
        while head < tail:
            square, part = queue[head] >> 2, queue[head] & 3
            head += 1
            for behind in range(4):  # the keeper stands on this side, and pushes away from himself
                ahead = neighbours[square, behind ^ 2]
                if sides[square, behind] != part or ahead == outside:
                    continue
                there = sides[ahead, behind]
                if found[ahead, behind] != FAR:
                    continue
                for side in range(4):
                    if sides[ahead, side] == there:
                        found[ahead, side] = found[square, part] + 1
                queue[tail] = 4 * ahead + there
                tail += 1


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
            PushTask(task.knowledge, task.start, int(task.memory * part), task.most_pushes, task.seed)
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

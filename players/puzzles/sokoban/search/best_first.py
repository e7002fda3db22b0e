"""Best-first searches by pushes, in slices: A* and greedy forwards (Hart, Nilsson and Raphael 1968); greedy
by pulls from the goals to where the boxes begin (Takes 2008); and from both ends, the same and breadth
first forwards from the start, until they meet (Pohl 1971; the forward part is a perimeter, Dillenburg
and Nelson 1994)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.deadlocks.corral_deadlock import new_corral_detector
from players.puzzles.sokoban.deadlocks.freeze import new_freeze
from players.puzzles.sokoban.distances import FAR, start_distances
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.search.best_first_kernels import (
    BEST,
    EMPTY,
    FOUND,
    FULL,
    GOING_ON,
    MADE,
    MEETING,
    MOST,
    SOLUTION,
    add_root,
    search,
)
from players.puzzles.sokoban.search.matching import new_matching
from players.puzzles.sokoban.search.nodes import new_nodes
from players.puzzles.sokoban.search.push_search import PushSearch, PushTask, SliceRate, checked
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Int32s


class BestFirst(PushSearch):
    """Expands the position whose key is the least: a weighted sum of pushes made and of a lower bound of
    those to make.

    Attributes:
        weights: of the pushes made and of the lower bound.
        pulling: whether it goes from the goals to the start, by pulls.
        corral_budget: how many states each look into a corral may expand; -1 for no look at corrals.
    """

    weights: ClassVar[tuple[int, int]]
    pulling: ClassVar[bool] = False
    corral_budget: ClassVar[int] = -1
    by_cells: ClassVar[bool] = False

    def __init__(self, task: PushTask) -> None:
        checked(task)
        super().__init__(task)
        self._pace = SliceRate()
        self._ready = False

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`."""
        if self.outcome is Outcome.GOING_ON:
            self._pace.run(seconds, self._work)
        return self.outcome

    def _prepare(self) -> None:
        task = self.task
        self._board = new_board(task.geometry)
        self._freeze = new_freeze(task.geometry)
        budget = self.corral_budget
        self._corrals = new_corral_detector(task.geometry, max(1, budget)) if budget >= 0 else None
        boxes = np.array(task.start.boxes, np.int32)
        self._nodes = new_nodes(len(boxes), task.memory)
        self._other = new_nodes(len(boxes), 0)
        self._counts = np.zeros(7, np.int64)
        self._counts[[SOLUTION, MEETING]] = -1
        self._counts[BEST] = MOST
        self._marks = np.zeros(task.geometry.size + 1, np.int32)
        self._room = np.zeros((3, 4 * len(boxes) + 1), np.int32)
        most = MOST if task.most_pushes is None else min(MOST, task.most_pushes)
        self._settings = np.array(
            [*self.weights, self.pulling, task.start.keeper, most, self.corral_budget, self.by_cells],
            np.int64,
        )
        self._ready = True
        self._aim(boxes)

    def _aim(self, boxes: Int32s) -> None:
        """Set up bounds and roots."""
        knowledge = self.task.knowledge
        self._matching = new_matching(knowledge.distances)
        self._dead = knowledge.dead
        self._add_root(boxes, self.task.start.keeper)

    def _add_root(self, boxes: Int32s, keeper: int) -> None:
        add_root(
            self._board, self._matching, self._nodes, boxes, keeper, self._settings,
            self._counts, self._marks,
        )  # fmt: skip

    def _work(self, units: int) -> bool:
        if not self._ready:
            self._prepare()
        if self.outcome is not Outcome.GOING_ON:
            return False  # it cannot begin
        said = search(
            self._board, self._freeze, self._corrals, self._matching, self._nodes, self._other,
            self._dead, self._settings, self._counts, self._marks, self._room, units,
        )  # fmt: skip
        self.progress.positions = int(self._counts[MADE])
        self.progress.bound = int(self._counts[BEST])
        if said == FOUND:
            self.pushes = self.line_to(int(self._counts[SOLUTION]))
            self.optimal = self.weights == (1, 1) and not self.pulling
            self.outcome = Outcome.SOLVED
        elif said == EMPTY:
            # A position that was met by too many pushes first is not looked at again, except by A*.
            proven = self.task.most_pushes is None or self.weights == (1, 1)
            self.outcome = Outcome.UNSOLVABLE if proven else Outcome.GAVE_UP
        elif said == FULL:
            self.outcome = Outcome.MEMORY_FULL
        return bool(said == GOING_ON)

    @property
    def meeting(self) -> int:
        """The node of the other search that this one met; -1 for none."""
        return int(self._counts[MEETING])

    def look_at(self, other: BestFirst) -> None:
        """Be SOLVED too when a position of this other search is met, which goes the opposite way."""
        for one in (self, other):
            if not one._ready:
                one._prepare()
        self._other = other._nodes

    def line_to(self, node: int) -> list[Push]:
        """The pushes between the root and a node, in the order of play."""
        pushes: list[Push] = []
        while self._nodes.parents[node] >= 0:
            box, direction = divmod(int(self._nodes.moves[node]), 4)
            pushes.append((box, direction))
            node = int(self._nodes.parents[node])
        return pushes[::-1]


class AStar(BestFirst):
    """A*: the first solution found has the fewest pushes."""

    name = "a-star"
    weights = (1, 1)


class Greedy(BestFirst):
    """Greedy best-first search: the lower bound alone decides."""

    name = "greedy"
    weights = (0, 1)


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
        for half, other, part in ((forth, back, self.share), (back, forth, 1 - self.share)):
            if half.outcome is not Outcome.GOING_ON:
                continue
            half.look_at(other)
            came_to = half.step(seconds * part)
            if came_to is Outcome.SOLVED:
                self.outcome, self.pushes = Outcome.SOLVED, self._joined(half, other)
                break
            ended = came_to in (Outcome.GAVE_UP, Outcome.MEMORY_FULL)
            if came_to is Outcome.UNSOLVABLE or (half is back and ended):
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

"""IDA* by pushes, in slices (Korf 1985): fewest pushes in memory of a fixed size."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.deadlocks.freeze import new_freeze
from players.puzzles.sokoban.lines import is_solved
from players.puzzles.sokoban.search.bounds import GREEDY, LEAST_MATCHING, SIMPLE
from players.puzzles.sokoban.search.greedy_bound import sorted_goals
from players.puzzles.sokoban.search.ida_kernels import (
    BOUND,
    DEPTH,
    EXHAUSTED,
    FOUND,
    GOING_ON,
    MADE,
    MOST_PUSHES,
    NEXT,
    THRESHOLD,
    Path,
    begin,
    deepen,
)
from players.puzzles.sokoban.search.matching import FAR_COST, new_matching
from players.puzzles.sokoban.search.push_search import Outcome, PushSearch, PushTask, SliceRate, checked

_DEEPEST = 4000


class IdaStar(PushSearch):
    """Searches in depth, as far as pushes made and a lower bound of those to make stay below a threshold,
    which grows. Positions that come up again are known as long as nothing has replaced them in the table.

    A level without solution is only proven to be one if its bound is infinite, or with a limit of pushes.

    Attributes:
        bound: which one, of :mod:`.bounds`. With the greedy one, which is no lower bound, nothing is said to
            be optimal, and no limit of pushes proven to be too low.
    """

    name = "ida-star"
    bound: ClassVar[int] = LEAST_MATCHING

    def __init__(self, task: PushTask) -> None:
        checked(task)
        super().__init__(task)
        self._pace = SliceRate(rate=100_000.0, least=64)
        self._ready = False

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`."""
        if self.outcome is Outcome.GOING_ON:
            self._pace.run(seconds, self._work)
        return self.outcome

    def _prepare(self) -> None:
        task, count = self.task, len(self.task.start.boxes)
        self._ready = True
        self._counts = np.zeros(6, np.int64)
        if is_solved(task.geometry, task.start):
            self.outcome, self.optimal = Outcome.SOLVED, True
            return
        self._board, self._freeze = new_board(task.geometry), new_freeze(task.geometry)
        self._matching = new_matching(task.knowledge.distances)
        distances = task.knowledge.distances
        self._lists = sorted_goals(distances if self.bound == GREEDY else distances[:0])
        self._marks = np.zeros(task.geometry.size + 1, np.int32)
        rows = min(_DEEPEST, _DEEPEST if task.most_pushes is None else task.most_pushes) + 2
        slots = 1 << max(10, (task.memory // 12).bit_length() - 1)
        boxes = np.array(task.start.boxes, np.int32)
        self._path = Path(
            np.full(rows, task.start.keeper, np.int32),
            np.zeros(rows, np.uint64),
            np.zeros(rows, np.int32),
            np.empty((rows, 4 * count, 2), np.int32),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.int32),
            boxes,
            np.zeros(slots, np.uint64),
            np.zeros(slots, np.int32),
        )
        value = np.bitwise_xor.reduce(self._board.keys[0, boxes])
        self._counts[[MOST_PUSHES, BOUND]] = rows - 2, self.bound
        bound = begin(
            self._board, self._matching, self._lists, self._path, task.knowledge.dead, self._counts,
            self._marks, value,
        )  # fmt: skip
        self._counts[[THRESHOLD, NEXT]] = bound, FAR_COST
        if bound > rows - 2:
            self.outcome = self._beyond(bound)

    def _beyond(self, bound: int) -> Outcome:
        """What it means that only bounds from this one on are left, which are too high."""
        limited = self.task.most_pushes is not None and self.bound != GREEDY
        return Outcome.UNSOLVABLE if limited or bound >= FAR_COST else Outcome.GAVE_UP

    def _work(self, units: int) -> bool:
        if not self._ready:
            self._prepare()
            if self.outcome is not Outcome.GOING_ON:
                return False
        said = deepen(
            self._board, self._freeze, self._matching, self._lists, self._path, self.task.knowledge.dead,
            self._counts, self._marks, units,
        )  # fmt: skip
        self.progress.positions = int(self._counts[MADE])
        self.progress.bound = int(self._counts[THRESHOLD])
        if said == FOUND:
            path, length = self._path, int(self._counts[DEPTH])
            made = path.pushes[np.arange(length), path.following[:length] - 1].tolist()
            self.pushes = [(box, direction) for box, direction in made]
            self.outcome, self.optimal = Outcome.SOLVED, self.bound != GREEDY
        elif said == EXHAUSTED:
            self.outcome = self._beyond(int(self._counts[NEXT]))
        return bool(said == GOING_ON)


class IdaStarSimple(IdaStar):
    """IDA* by the simple bound."""

    name = "ida-star-simple-bound"
    bound = SIMPLE


class IdaStarGreedyBound(IdaStar):
    """IDA* by the greedy bound: the solution may have more pushes than needed."""

    name = "ida-star-greedy-bound"
    bound = GREEDY

"""IDA* by pushes, in slices (Korf 1985): fewest pushes in memory of a fixed size."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.deadlocks.freeze import new_freeze
from players.puzzles.sokoban.lines import is_solved
from players.puzzles.sokoban.search.ida_kernels import (
    DEPTH,
    EXHAUSTED,
    FOUND,
    GOING_ON,
    MADE,
    MOST_PUSHES,
    NEXT,
    SIMPLE,
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
        simple: whether the bound is the simple one, each box to its nearest goal; else the least matching.
    """

    name = "ida-star"
    simple: ClassVar[bool] = False

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
        self._marks = np.zeros(task.geometry.size + 1, np.int32)
        rows = min(_DEEPEST, _DEEPEST if task.most_pushes is None else task.most_pushes) + 2
        slots = 1 << max(10, (task.memory // 12).bit_length() - 1)
        boxes = np.array(task.start.boxes, np.int32)
        self._path = Path(
            np.full(rows, task.start.keeper, np.int32),
            np.zeros(rows, np.uint64),
            np.empty((rows, 4 * count, 2), np.int32),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.int32),
            boxes,
            np.zeros(slots, np.uint64),
            np.zeros(slots, np.int32),
        )
        value = np.bitwise_xor.reduce(self._board.keys[0, boxes])
        bound = begin(self._board, self._matching, self._path, task.knowledge.dead, self._marks, value)
        self._counts[[THRESHOLD, NEXT]] = bound, FAR_COST
        self._counts[[MOST_PUSHES, SIMPLE]] = rows - 2, self.simple
        if bound > rows - 2:
            far = bound >= FAR_COST or task.most_pushes is not None
            self.outcome = Outcome.UNSOLVABLE if far else Outcome.GAVE_UP

    def _work(self, units: int) -> bool:
        if not self._ready:
            self._prepare()
            if self.outcome is not Outcome.GOING_ON:
                return False
        said = deepen(
            self._board, self._freeze, self._matching, self._path, self.task.knowledge.dead, self._counts,
            self._marks, units,
        )  # fmt: skip
        self.progress.positions = int(self._counts[MADE])
        self.progress.bound = int(self._counts[THRESHOLD])
        if said == FOUND:
            path, length = self._path, int(self._counts[DEPTH])
            made = path.pushes[np.arange(length), path.following[:length] - 1].tolist()
            self.pushes = [(box, direction) for box, direction in made]
            self.outcome, self.optimal = Outcome.SOLVED, True
        elif said == EXHAUSTED:
            proven = self.task.most_pushes is not None or self._counts[NEXT] >= FAR_COST
            self.outcome = Outcome.UNSOLVABLE if proven else Outcome.GAVE_UP
        return bool(said == GOING_ON)

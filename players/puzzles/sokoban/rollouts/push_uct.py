"""`PushUct`: UCT at push level, whose tree and playouts leave out pushes that are known to lose.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> from players.puzzles.sokoban.search.push_search import LevelKnowledge, PushTask
>>> geometry, start = from_level(Level(("########", "#      #", "#@ $ . #", "########")))
>>> search = PushUct(PushTask(LevelKnowledge(geometry), start, memory=1 << 20))
>>> search.step(10.0).value, search.pushes[-1]
('solved', (9, 1))
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from players.puzzles.sokoban.deadsets.dead_sets import make_dead_sets
from players.puzzles.sokoban.lines import Push, is_solved
from players.puzzles.sokoban.rollouts.playouts import ALL, new_room
from players.puzzles.sokoban.rollouts.push_uct_kernels import (
    EMPTY,
    FOUND,
    FULL,
    GOING_ON,
    KNOWN,
    PUSHES,
    SOLUTION,
    PushTree,
    begin_tree,
    iterate,
)
from players.puzzles.sokoban.search.push_search import Outcome, PushSearch, PushTask, SliceRate, checked

_BUDGET = 100
"""States that the search of one corral may expand."""


class PushUct(PushSearch):
    """Looks for a solution by playouts.

    Args:
        asked: what tree and playouts know, a sum of the flags of :mod:`.playouts`.
        most: pushes of a playout.
        exploration: the weight of the term of UCB1 that favours what was tried little.
    """

    name: ClassVar[str] = "uct"

    def __init__(self, task: PushTask, asked: int = ALL, most: int = 100, exploration: float = 0.3) -> None:
        checked(task)
        super().__init__(task)
        self._asked, self._exploration = asked, exploration
        self._most = most if task.most_pushes is None else min(most, task.most_pushes)
        self._pace = SliceRate(rate=500.0, least=4)
        self._tree: PushTree | None = None

    def step(self, seconds: float) -> Outcome:
        """See :meth:`PushSearch.step`."""
        if self.outcome is Outcome.GOING_ON:
            self._pace.run(seconds, self._work)
        return self.outcome

    def _prepare(self) -> PushTree:
        task = self.task
        boxes = np.array(task.start.boxes, np.int32)
        self._knows = new_room(make_dead_sets(task.geometry), len(boxes), _BUDGET)
        self._trace = np.zeros(self._most, np.int32)
        self._random = np.array([task.seed], np.uint64)
        self._counts = np.zeros(3, np.int64)
        tree = new_tree(len(boxes), task.memory)
        begin_tree(tree, self._knows, boxes, task.start.keeper, self._counts)
        return tree

    def _work(self, units: int) -> bool:
        if is_solved(self.task.geometry, self.task.start):
            self.outcome, self.optimal = Outcome.SOLVED, True
            return False
        if self._tree is None:
            self._tree = self._prepare()
        said = iterate(
            self._tree, self._knows, self._asked, self._most, _BUDGET, self._exploration, self._random,
            self._trace, self._counts, units,
        )  # fmt: skip
        self.progress.positions = int(self._counts[KNOWN])
        if said == FOUND:
            self.pushes = self._line(self._tree)
            allowed = self.task.most_pushes
            self.outcome = (
                Outcome.SOLVED if allowed is None or len(self.pushes) <= allowed else Outcome.GAVE_UP
            )
        elif said == EMPTY:
            self.outcome = Outcome.UNSOLVABLE
        elif said == FULL:
            self.outcome = Outcome.MEMORY_FULL
        return bool(said == GOING_ON)

    def _line(self, tree: PushTree) -> list[Push]:
        node, codes = int(self._counts[SOLUTION]), self._trace[: int(self._counts[PUSHES])].tolist()[::-1]
        while tree.parents[node] >= 0:
            codes.append(int(tree.pushes[node]))
            node = int(tree.parents[node])
        return [divmod(code, 4) for code in codes[::-1]]


def new_tree(boxes: int, memory: int) -> PushTree:
    """Room for as many nodes as fit into so many bytes; pages are taken as they are used."""
    capacity = max(8 * boxes + 64, memory // (2 * (boxes + 1) + 8 + 5 * 4 + 1 + 16 + 16))
    return PushTree(
        np.empty((capacity, boxes + 1), np.uint16),
        np.empty(capacity, np.uint64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.zeros(capacity, np.bool_),
        np.zeros(capacity, np.float64),
        np.zeros(capacity, np.float64),
        np.zeros(1 << (2 * capacity - 1).bit_length(), np.int32),
    )

"""`Optimizer`: makes a solution shorter, by search in ever larger vicinities of it.

A round collects the box configurations that differ from those of the solution by a few boxes nearby, and
looks for a shortest line among them (:mod:`.optimizer_kernels`). A better one is the next round's solution.
When a round finds nothing, the next vicinity is larger; the last one is everything that memory holds.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("########", "#      #", "#@ $ . #", "########")))
>>> detour = Optimizer(geometry, start, [(8, 1), (9, 3), (8, 1), (9, 1)])
>>> while detour.step(1.0):
...     pass
>>> detour.pushes, detour.steps, detour.optimal
([(8, 1), (9, 1)], 'rRR', True)
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from gdl.errors import GdlError
from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.distances import FAR, goal_distances
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, after_steps, is_solved, steps_of
from players.puzzles.sokoban.optimizer_kernels import (
    EMPTY,
    FULL,
    STATES,
    Boxes,
    Line,
    add_vicinity,
    begin,
    bytes_per_state,
    nearest,
    new_line,
    search_slice,
)
from players.puzzles.sokoban.solution import Metric
from propnet.jit.arrays import Int32s, Words

_REACHES = ((8, 0, 0), (24, 3, 0), (48, 6, 2), (48, 10, 3), (64, 16, 4), (64, 24, 6))
"""How many squares each box may move to: alone, with a second box, with a third."""
_ROWS, _PAIR_ROWS, _STATES = 256, 16, 2000
"""How much is done between two looks at the clock: a few milliseconds."""
_FEWEST_STATES = 1 << 15
_FEWEST_KEYS = 1 << 16


class Optimizer:
    """Improves one solution, in slices of time.

    Args:
        geometry, start: the level.
        pushes: the solution.
        metric: what it is to have few of.
        memory: bytes that it may take.

    Attributes:
        pushes, steps: the best solution so far.
        optimal: whether there is none better, but for a collision of 64-bit hashes.
        rounds: how many searches are done.
        states: how many states they have looked at.

    Raises:
        GdlError: the pushes are no solution.
    """

    def __init__(
        self,
        geometry: Geometry,
        start: Position,
        pushes: Sequence[Push],
        metric: Metric = Metric.PUSHES,
        memory: int = 500 << 20,
    ) -> None:
        self.geometry, self.start, self.metric = geometry, start, metric
        self.pushes, self.steps = list(pushes), steps_of(geometry, start, pushes)
        if not is_solved(geometry, after_steps(geometry, start, self.steps)):
            raise GdlError("these pushes do not solve the level")
        self.optimal = False
        self.rounds = self.states = 0
        self._memory = memory
        distances = goal_distances(geometry)
        nearest_goal = distances.min(axis=0) if len(distances) else np.full(geometry.size + 1, FAR)
        self._bounds: Int32s = np.where(nearest_goal == FAR, -1, nearest_goal).astype(np.int32)
        self._near = nearest(geometry, (self._bounds < 0).astype(np.uint8), max(r[0] for r in _REACHES))
        self._board = new_board(geometry)
        self._work = self._rounds()

    @property
    def cost(self) -> tuple[int, int]:
        """What comes first by the metric, then the other: pushes and moves of the best solution."""
        return self._ordered(len(self.pushes), len(self.steps))

    def step(self, seconds: float) -> bool:
        """Work for so many seconds, a few milliseconds more or less. Returns whether there is anything left
        to do."""
        deadline = time.monotonic() + seconds
        return any(time.monotonic() >= deadline for _ in self._work)

    def _ordered(self, pushes: int, moves: int) -> tuple[int, int]:
        return (pushes, moves) if self.metric is Metric.PUSHES else (moves, pushes)

    def _rounds(self) -> Iterator[None]:
        """Yields between small parts of the work."""
        for reach in _REACHES:
            improved = len(self.start.boxes) > 0
            while improved:
                vicinity = yield from self._vicinity(reach)
                improved = yield from self._search(vicinity)
        while (yield from self._search(None)):
            pass

    def _vicinity(self, reach: tuple[int, int, int]) -> Generator[None, None, Words]:
        """A set of keys. Moving single boxes comes first, should there be no room for all."""
        boxes = self._configurations()
        most = max(_FEWEST_KEYS, self._memory // 4 // 8)
        keys = self._board.keys[0]
        table = np.zeros(_power_below(min(most, 2 * _guess(boxes, reach) + _FEWEST_KEYS)), np.uint64)
        count = np.zeros(1, np.int64)
        for part, rows in (((reach[0], 0, 0), _ROWS), ((0, *reach[1:]), _PAIR_ROWS)):
            row = 0
            while row < len(boxes):
                end = min(row + rows, len(boxes))
                row = add_vicinity(table, count, boxes, row, end, self._near, np.array(part), keys)
                yield
                if row < end:
                    break
        return table

    def _configurations(self) -> Boxes:
        """Where the boxes stand before each push, and after the last: int16, shape (pushes + 1, boxes)."""
        boxes = list(self.start.boxes)
        rows = [list(boxes)]
        for box, direction in self.pushes:
            boxes[boxes.index(box)] = int(self.geometry.neighbours[box, direction])
            rows.append(list(boxes))
        return np.array(rows, np.int16)

    def _search(self, vicinity: Words | None) -> Generator[None, None, bool]:
        """A shortest line, in a vicinity or anywhere; returns whether it is better."""
        self.rounds += 1
        boxes = np.array(self.start.boxes, np.int16)
        most = max(_FEWEST_STATES, self._memory // 2 // bytes_per_state(len(boxes)))
        capacity = min(most, _FEWEST_STATES)
        everything = np.zeros(1, np.uint64)
        while True:
            line = new_line(self.geometry.size, len(boxes), capacity, self.cost[0])
            begin(line, self._board, boxes, self.start.keeper)
            status = -1
            while status == -1:
                status = search_slice(
                    line,
                    self._board,
                    self._bounds,
                    everything if vicinity is None else vicinity,
                    vicinity is None,
                    self.metric is Metric.MOVES,
                    np.array(self.cost),
                    _STATES,
                )
                yield
            self.states += int(line.counters[STATES])
            if status != FULL or capacity == most:
                break
            capacity = min(most, 4 * capacity)
        self.optimal = vicinity is None and status == EMPTY
        return status not in (EMPTY, FULL) and self._take(line, status)

    def _take(self, line: Line, state: int) -> bool:
        """Have the line to this state as the solution, if it is one and better."""
        pushes: list[Push] = []
        while line.parents[state] >= 0:
            pushes.append((int(line.pushes[state, 0]), int(line.pushes[state, 1])))
            state = int(line.parents[state])
        pushes.reverse()
        steps = steps_of(self.geometry, self.start, pushes)
        if self._ordered(len(pushes), len(steps)) >= self.cost:
            return False
        self.pushes, self.steps = pushes, steps
        return True


def _guess(boxes: Boxes, reach: tuple[int, int, int]) -> int:
    """How many configurations a vicinity has at most."""
    rows, count = len(boxes), boxes.shape[1]
    pairs, triples = count * (count - 1) // 2, count * (count - 1) * (count - 2) // 6
    return int(rows * (1 + count * reach[0] + pairs * reach[1] ** 2 + triples * reach[2] ** 3))


def _power_below(number: int) -> int:
    size: int = 1 << (number.bit_length() - 1)
    return size

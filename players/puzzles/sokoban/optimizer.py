"""`Optimizer`: makes a solution shorter, by search in ever larger vicinities of it.

A round collects the box configurations that differ from those of the solution by a few boxes nearby, and
looks for a shortest line among them. A better line is the solution of the next round. When a round finds
nothing, the next vicinity is larger; the last one is everything that fits into memory.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("########", "#      #", "#@ $ . #", "########")))
>>> detour = Optimizer(geometry, start, [(8, 1), (9, 3), (8, 1), (9, 1)])
>>> detour.step(float("inf"))
True
>>> detour.pushes, detour.steps, detour.optimal
([(8, 1), (9, 1)], 'rRR', True)

The vicinity consists of all box configurations that differ from one along the solution by a few boxes nearby,
as in the optimizer of JSoko (Damgaard, Meger, Marxen). The configurations are generated without checking
whether pushes lead to them; the search then walks through those that it reaches. They are stored as a set of
64-bit hashes. Two configurations with the same hash can only cost a detour, because the search's result is
replayed.

The shortest line is found by Dijkstra's algorithm (1959) with buckets (Dial 1969). States are box
configurations with the keeper's exact square. A line costs pushes first and moves second, or the other way
round. Each push costs at least one unit of the first cost, so one bucket per first cost is enough. A lower
bound cuts lines that cannot beat the best known one: the pushes that each box needs to its nearest goal.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from players.companions import Stepwise
from players.puzzles.sokoban.board import BOXED, FREE, OUTSIDE, Board, find_key, new_board, next_stamp
from players.puzzles.sokoban.distances import FAR, goal_distances
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, after_steps, is_solved, steps_of
from players.puzzles.sokoban.solution import Metric
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel

Boxes = NDArray[np.int16]
"""Squares of boxes in any order, in rows."""


def nearest(geometry: Geometry, dead: Octets, most: int) -> Int32s:
    """Return the squares nearest to each square in steps, without itself and dead squares.

    Args:
        dead: uint8, shape (size + 1,): 1 on dead squares.
        most: the most squares for each.

    Returns:
        int32, shape (size, most); padded with -1.
    """
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    near = np.full((geometry.size, most), -1, np.int32)
    for square in np.flatnonzero(dead[:-1] == 0).tolist():
        seen, waiting, count = {square, geometry.size}, deque([square]), 0
        while waiting and count < most:
            for there in neighbours[waiting.popleft()]:
                if there not in seen:
                    seen.add(there)
                    waiting.append(there)
                    if not dead[there] and count < most:
                        near[square, count] = there
                        count += 1
    return near


@inner
def _add(table: Words, count: Ints, key: np.uint64) -> None:
    slot = find_key(table, key)
    if slot < 0:
        table[-1 - slot] = key
        count[0] += 1


@inner
def _stands(boxes: Boxes, row: Index, square: Index) -> bool:
    for number in range(boxes.shape[1]):  # noqa: SIM110 (kernels know no generators)
        if boxes[row, number] == square:
            return True
    return False


@kernel
def _add_vicinity(
    table: Words, count: Ints, boxes: Boxes, first: int, end: int, near: Int32s, reach: Ints, keys: Words
) -> int:
    """Add the configurations near those in rows ``first`` up to ``end``.

    Args:
        table: uint64, a power of two of slots: the set of keys; 0 is free.
        count: int64, shape (1,): the number of keys in it.
        boxes: int16, shape (rows, boxes): the configurations along the solution.
        near: int32, shape (size, most): see :func:`nearest`.
        reach: int64, shape (3,): ``reach[n]`` is the number of nearest squares each box may move to when n +
            1 boxes are moved at once; 0 for none.
        keys: uint64, shape (size + 1,): random numbers; a configuration's key is their exclusive or.

    Returns:
        the row to continue with; ``end`` when all are done, less when three quarters of the table are full.
    """
    boxes_count = boxes.shape[1]
    room = len(table) // 4 * 3
    for row in range(first, end):
        if count[0] >= room:
            return row
        base = np.uint64(0)
        for a in range(boxes_count):
            base ^= keys[boxes[row, a]]
        _add(table, count, base)
        for a in range(boxes_count):
            for n in range(reach[0]):
                x = near[boxes[row, a], n]
                if x < 0:
                    break
                if not _stands(boxes, row, x):
                    _add(table, count, base ^ keys[boxes[row, a]] ^ keys[x])
        for a in range(boxes_count if reach[1] else 0):
            for n in range(reach[1]):
                x = near[boxes[row, a], n]
                if x < 0:
                    break
                if _stands(boxes, row, x):
                    continue
                key_a = base ^ keys[boxes[row, a]] ^ keys[x]
                for b in range(a):
                    if count[0] >= room:
                        return row
                    for m in range(reach[1]):
                        y = near[boxes[row, b], m]
                        if y < 0:
                            break
                        if y == x or _stands(boxes, row, y):
                            continue
                        key_b = key_a ^ keys[boxes[row, b]] ^ keys[y]
                        _add(table, count, key_b)
                        if n >= reach[2] or m >= reach[2]:
                            continue
                        for c in range(b):
                            for k in range(reach[2]):
                                z = near[boxes[row, c], k]
                                if z < 0:
                                    break
                                if z != x and z != y and not _stands(boxes, row, z):
                                    _add(table, count, key_b ^ keys[boxes[row, c]] ^ keys[z])
    return end


_GOING, EMPTY, FULL = -1, -2, -3
"""Results of a slice of the search; other values are the number of the solved state."""
STATES, _BUCKET = range(2)
"""Entries of ``counters``: the number of states, and the cost being processed."""


class Line(NamedTuple):
    """The states of a search, and the push that reached each. All arrays have ``capacity`` rows.

    Attributes:
        boxes: int16, shape (capacity, boxes), in no order.
        keepers, parents: int32: the keeper's square, and the previous state; -1 for the start.
        pushes: int32, shape (capacity, 2): the square from which the box was pushed, and the direction.
        costs: int32, shape (capacity, 2): the first cost and the second cost.
        links: int32, shape (capacity, 2): the previous and next states in the same bucket; -1 for none.
        closed: uint8: 1 once a state's pushes were made.
        keys: uint64: hashes of the boxes.
        table: int32, a power of two of slots: numbers of states plus 1; 0 is free.
        buckets: int32: the first state of each cost, -1 for none.
        counters: int64, shape (2,).
        steps: int32, shape (size + 1,): the keeper's steps to each square that he reaches.
    """

    boxes: Boxes
    keepers: Int32s
    parents: Int32s
    pushes: Int32s
    costs: Int32s
    links: Int32s
    closed: Octets
    keys: Words
    table: Int32s
    buckets: Int32s
    counters: Ints
    steps: Int32s


def _new_line(size: int, boxes: int, capacity: int, highest: int) -> Line:
    """Return arrays for ``capacity`` states on a board of that size; costs are below ``highest``."""
    return Line(
        np.zeros((capacity, boxes), np.int16),
        np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int32),
        np.zeros((capacity, 2), np.int32),
        np.zeros((capacity, 2), np.int32),
        np.zeros((capacity, 2), np.int32),
        np.zeros(capacity, np.uint8),
        np.zeros(capacity, np.uint64),
        np.zeros(1 << (2 * capacity - 1).bit_length(), np.int32),
        np.full(highest + 1, -1, np.int32),
        np.zeros(2, np.int64),
        np.zeros(size + 1, np.int32),
    )


def bytes_per_state(boxes: int) -> int:
    """Return the most bytes that a state takes, including its slots in the table."""
    return 2 * boxes + 4 * (2 + 2 + 2 + 2) + 9 + 4 * 4


@inner
def _walk_all(board: Board, steps: Int32s, keeper: Index) -> None:
    """Mark the squares that the keeper reaches, with the steps to each."""
    neighbours, occupied, reached, queue = board.neighbours, board.occupied, board.reached, board.queue
    stamp = next_stamp(reached, board.stamp)
    reached[keeper] = stamp
    steps[keeper] = 0
    queue[0] = keeper
    head, tail = 0, 1
    while head < tail:
        square = queue[head]
        head += 1
        for direction in range(4):
            there = neighbours[square, direction]
            if reached[there] != stamp and occupied[there] == FREE:
                reached[there] = stamp
                steps[there] = steps[square] + 1
                queue[tail] = there
                tail += 1


@inner
def _unlink(line: Line, state: Index) -> None:
    before, after = line.links[state, 0], line.links[state, 1]
    if before >= 0:
        line.links[before, 1] = after
    else:
        line.buckets[line.costs[state, 0]] = after
    if after >= 0:
        line.links[after, 0] = before


@inner
def _link(line: Line, state: Index) -> None:
    cost = line.costs[state, 0]
    head = line.buckets[cost]
    line.links[state, 0] = -1
    line.links[state, 1] = head
    if head >= 0:
        line.links[head, 0] = state
    line.buckets[cost] = state


@inner
def _slot(line: Line, keys: Words, key: np.uint64, keeper: Index) -> Index:
    """Return the state with these boxes and keeper, or minus 1 minus its free slot in the table."""
    mask = np.uint64(len(line.table) - 1)
    slot = (key ^ keys[1, keeper]) & mask
    while line.table[slot]:
        state = np.int64(line.table[slot] - 1)
        if line.keys[state] == key and line.keepers[state] == keeper:
            return state
        slot = (slot + np.uint64(1)) & mask
    return -1 - np.int64(slot)


@kernel
def begin(line: Line, board: Board, boxes: Boxes, keeper: int) -> None:
    """Begin with one state: ``boxes``, int16, shape (boxes,)."""
    key = np.uint64(0)
    for number in range(len(boxes)):
        line.boxes[0, number] = boxes[number]
        key ^= board.keys[0, boxes[number]]
    line.keys[0] = key
    line.keepers[0] = keeper
    line.parents[0] = -1
    line.table[-1 - _slot(line, board.keys, key, keeper)] = 1
    _link(line, 0)
    line.counters[STATES] = 1


@kernel
def search_slice(
    line: Line,
    board: Board,
    bounds: Int32s,
    vicinity: Words,
    everywhere: bool,
    moves_first: bool,
    best: Ints,
    budget: int,
) -> Index:
    """Make the pushes of up to ``budget`` states.

    Args:
        bounds: int32, shape (size + 1,): a lower bound of the pushes from each square to the nearest goal; -1
            on dead squares.
        vicinity: uint64: the allowed configurations, unless ``everywhere``.
        best: int64, shape (2,): the costs to beat, first and second.
    """
    size = len(board.occupied) - 1
    boxes_count = line.boxes.shape[1]
    keys = board.keys
    counters = line.counters
    while budget:
        while counters[_BUCKET] < len(line.buckets) and line.buckets[counters[_BUCKET]] < 0:
            counters[_BUCKET] += 1
        if counters[_BUCKET] == len(line.buckets):
            return EMPTY
        state = np.int64(line.buckets[counters[_BUCKET]])
        _unlink(line, state)
        line.closed[state] = 1
        budget -= 1
        bound, missing = 0, 0
        board.occupied[:] = FREE
        board.occupied[size] = OUTSIDE
        for number in range(boxes_count):
            square = line.boxes[state, number]
            board.occupied[square] = BOXED
            bound += bounds[square]
            missing += 1 - board.goal[square]
        if missing == 0:
            return state
        _walk_all(board, line.steps, line.keepers[state])
        stamp = board.stamp[0]
        for number in range(boxes_count):
            box = np.int64(line.boxes[state, number])
            for direction in range(4):
                behind = board.neighbours[box, direction ^ 2]
                ahead = board.neighbours[box, direction]
                if board.reached[behind] != stamp or board.occupied[ahead] != FREE or bounds[ahead] < 0:
                    continue
                moves = line.steps[behind] + 1
                first = line.costs[state, 0] + (moves if moves_first else 1)
                second = line.costs[state, 1] + (1 if moves_first else moves)
                left = bound - bounds[box] + bounds[ahead]
                if first + left > best[0] or (first + left == best[0] and second + left >= best[1]):
                    continue
                key = line.keys[state] ^ keys[0, box] ^ keys[0, ahead]
                if not everywhere and find_key(vicinity, key) < 0:
                    continue
                child = _slot(line, keys, key, box)
                if child >= 0:
                    costs = line.costs[child]
                    if line.closed[child] or costs[0] < first or (costs[0] == first and costs[1] <= second):
                        continue
                    _unlink(line, child)
                else:
                    if counters[STATES] == len(line.keepers):
                        return FULL
                    slot, child = -1 - child, counters[STATES]
                    counters[STATES] += 1
                    line.table[slot] = child + 1
                    line.boxes[child] = line.boxes[state]
                    line.boxes[child, number] = ahead
                    line.keys[child] = key
                    line.keepers[child] = box
                line.parents[child] = state
                line.pushes[child, 0] = box
                line.pushes[child, 1] = direction
                line.costs[child, 0] = first
                line.costs[child, 1] = second
                _link(line, child)
    return _GOING


_REACHES = ((8, 0, 0), (24, 3, 0), (48, 6, 2), (48, 10, 3), (64, 16, 4), (64, 24, 6))
"""The number of squares each box may move to: alone, with a second box, with a third."""
_ROWS, _PAIR_ROWS, _STATES = 256, 16, 2000
"""The work between two looks at the clock: a few milliseconds."""
_FEWEST_STATES = 1 << 15
_FEWEST_KEYS = 1 << 16


class Optimizer(Stepwise):
    """Improves one solution, in slices of time.

    Args:
        geometry, start: the level.
        pushes: the solution.
        metric: the quantity to minimise.
        memory: the most bytes that it may take.

    Attributes:
        pushes, steps: the best solution found.
        optimal: whether no solution is better, barring a collision of 64-bit hashes.
        states: the number of states that its searches have examined.

    Raises:
        GdlError: the pushes are not a solution.
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
        self.states = 0
        self._memory = memory
        distances = goal_distances(geometry)
        nearest_goal = distances.min(axis=0) if len(distances) else np.full(geometry.size + 1, FAR)
        self._bounds: Int32s = np.where(nearest_goal == FAR, -1, nearest_goal).astype(np.int32)
        self._near = nearest(geometry, (self._bounds < 0).astype(np.uint8), max(r[0] for r in _REACHES))
        self._board = new_board(geometry)
        self._work = self._rounds()

    @property
    def cost(self) -> tuple[int, int]:
        """The pushes and moves of the best solution, the metric's own quantity first."""
        return self._ordered(len(self.pushes), len(self.steps))

    def step(self, deadline: float) -> bool:
        """See :class:`~players.companions.Stepwise`."""
        return all(time.monotonic() < deadline for _ in self._work)

    def _ordered(self, pushes: int, moves: int) -> tuple[int, int]:
        return (pushes, moves) if self.metric is Metric.PUSHES else (moves, pushes)

    def _rounds(self) -> Iterator[None]:
        """Work in rounds; yields between small parts of the work."""
        for reach in _REACHES:
            improved = len(self.start.boxes) > 0
            while improved:
                vicinity = yield from self._vicinity(reach)
                improved = yield from self._search(vicinity)
        while (yield from self._search(None)):
            pass

    def _vicinity(self, reach: tuple[int, int, int]) -> Generator[None, None, Words]:
        """Return the set of keys of a vicinity. Moves of single boxes come first, in case the memory does not
        suffice for all."""
        boxes = self._configurations()
        most = max(_FEWEST_KEYS, self._memory // 4 // 8)
        keys = self._board.keys[0]
        table = np.zeros(_power_below(min(most, 2 * _guess(boxes, reach) + _FEWEST_KEYS)), np.uint64)
        count = np.zeros(1, np.int64)
        for part, rows in (((reach[0], 0, 0), _ROWS), ((0, *reach[1:]), _PAIR_ROWS)):
            row = 0
            while row < len(boxes):
                end = min(row + rows, len(boxes))
                row = _add_vicinity(table, count, boxes, row, end, self._near, np.array(part), keys)
                yield
                if row < end:
                    break
        return table

    def _configurations(self) -> Boxes:
        """Return the boxes before each push, and after the last: int16, shape (pushes + 1, boxes)."""
        boxes = list(self.start.boxes)
        rows = [list(boxes)]
        for box, direction in self.pushes:
            boxes[boxes.index(box)] = int(self.geometry.neighbours[box, direction])
            rows.append(list(boxes))
        return np.array(rows, np.int16)

    def _search(self, vicinity: Words | None) -> Generator[None, None, bool]:
        """Look for a shortest line, in a vicinity or anywhere. Returns whether it is better."""
        boxes = np.array(self.start.boxes, np.int16)
        most = max(_FEWEST_STATES, self._memory // 2 // bytes_per_state(len(boxes)))
        capacity = min(most, _FEWEST_STATES)
        everything = np.zeros(1, np.uint64)
        while True:
            line = _new_line(self.geometry.size, len(boxes), capacity, self.cost[0])
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
        """Take the line to this state as the solution if it is better. Returns whether it is."""
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
    """Return an upper bound of the number of configurations in a vicinity."""
    rows, count = len(boxes), boxes.shape[1]
    pairs, triples = count * (count - 1) // 2, count * (count - 1) * (count - 2) // 6
    return int(rows * (1 + count * reach[0] + pairs * reach[1] ** 2 + triples * reach[2] ** 3))


def _power_below(number: int) -> int:
    size: int = 1 << (number.bit_length() - 1)
    return size

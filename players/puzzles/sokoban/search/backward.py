"""Greedy best-first search by pulls, from the goals back to the start (Takes 2008), in slices of time.

A position's bound is the least matching of its boxes with the squares where boxes begin, found by the
Hungarian method with shortest augmenting paths (Kuhn 1955; Jonker and Volgenant 1987), one row at a time.
When a box moves, all potentials but its own stay valid, so one augmenting path makes the matching perfect
again. Cheaper bounds (each box to its nearest goal, or a greedy assignment) were measured and made no search
faster: the time saved per position is lost to more positions. Positions with the least bound go first, and
among them the newest.

Positions are packed records with Zobrist hashes (Zobrist 1970) in a hash table, with a queue of buckets, all
in flat arrays.
"""

from __future__ import annotations

import time
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board, walk
from players.puzzles.sokoban.distances import FAR, start_distances
from players.puzzles.sokoban.push_search import PushSearch, PushTask
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

FAR_COST = 1 << 18
"""The cost of a goal that a box cannot reach. A matching of this cost or more stands for none at all."""
_MORE = 1 << 30
_DRIFT = 1 << 24


class Matching(NamedTuple):
    """A perfect matching that can change.

    Attributes:
        costs: int32, shape (size + 2, goals): pushes from each square to each goal, at most FAR_COST; 0 in
            the last row, which stands for no box.
        squares: int32, shape (goals,): the square of each row's box; size + 1 for rows without one.
        row_potentials, column_potentials: int32, shape (goals + 1,).
        row_of: int32, shape (goals + 1,): the row matched to each column; -1 for none.
        column_of: int32, shape (goals + 1,): the column of each row.
        room: int32, shape (7, goals + 1), scratch space.
    """

    costs: Int32s
    squares: Int32s
    row_potentials: Int32s
    column_potentials: Int32s
    row_of: Int32s
    column_of: Int32s
    room: Int32s


def new_matching(distances: Int32s) -> Matching:
    """Return a matching without boxes, every row at cost 0. ``distances``: int32, shape (goals, size + 1)."""
    goals, rows = distances.shape
    costs = np.zeros((rows + 1, goals), np.int32)
    costs[:rows] = np.minimum(distances.T, FAR_COST)
    order = np.arange(goals + 1, dtype=np.int32)
    return Matching(
        costs,
        np.full(goals, rows, np.int32),
        np.zeros(goals + 1, np.int32),
        np.zeros(goals + 1, np.int32),
        order,
        order.copy(),
        np.zeros((7, goals + 1), np.int32),
    )


@inner
def move_row(matching: Matching, row: Index, square: Index) -> None:
    """Move the box of a row to another square, and restore the matching of least cost."""
    costs, squares, room = matching.costs, matching.squares, matching.room
    row_potentials, column_potentials = matching.row_potentials, matching.column_potentials
    row_of, column_of = matching.row_of, matching.column_of
    size = len(squares)
    least, used, way = room[0], room[1], room[2]
    row_of[column_of[row]] = -1
    squares[row] = square
    for column in range(size):
        least[column] = _MORE
        used[column] = 0
    row_of[size] = row
    used[size] = 0
    here = size
    while True:
        used[here] = 1
        one = row_of[here]
        line = costs[squares[one]]
        base = row_potentials[one]
        delta, there = np.int32(_MORE), 0
        for column in range(size):
            if not used[column]:
                reduced = line[column] - base - column_potentials[column]
                if reduced < least[column]:
                    least[column] = reduced
                    way[column] = here
                if least[column] < delta:
                    delta = least[column]
                    there = column
        if delta != 0:
            for column in range(size + 1):
                if used[column]:
                    row_potentials[row_of[column]] += delta
                    column_potentials[column] -= delta
                else:
                    least[column] -= delta
        here = there
        if row_of[here] < 0:
            break
    while here != size:
        there = way[here]
        row_of[here] = row_of[there]
        column_of[row_of[here]] = here
        here = there
    column_potentials[size] = 0
    # Columns only ever lose. Adding one constant to all of them changes nothing.
    if column_potentials[0] < -_DRIFT:
        lost = column_potentials[0]
        for number in range(size):
            column_potentials[number] -= lost
            row_potentials[number] += lost


@inner
def total_cost(matching: Matching) -> Index:
    """Return the cost of the matching; FAR_COST or more if some box has no goal."""
    total = np.int64(0)
    for column in range(len(matching.squares)):
        total += matching.costs[matching.squares[matching.row_of[column]], column]
    return total


@inner
def cost_after(matching: Matching, row: Index, square: Index, total: Index) -> Index:
    """Return the cost of the least matching if the box of a row stood on another square. The matching stays
    unchanged; ``total`` is its cost."""
    costs, room, column = matching.costs, matching.room, matching.column_of[row]
    old = matching.squares[row]
    size = len(matching.squares)
    # If no other goal comes nearer by more than the matched one does, the same matching is the best.
    gain = np.int32(-_MORE)
    for number in range(size):
        gain = max(gain, costs[old, number] - costs[square, number])
    if costs[old, column] - costs[square, column] == gain:
        return total - np.int64(gain)
    for number in range(size + 1):
        room[3, number] = matching.row_potentials[number]
        room[4, number] = matching.column_potentials[number]
        room[5, number] = matching.row_of[number]
        room[6, number] = matching.column_of[number]
    move_row(matching, row, square)
    after = total_cost(matching)
    matching.squares[row] = old
    for number in range(size + 1):
        matching.row_potentials[number] = room[3, number]
        matching.column_potentials[number] = room[4, number]
        matching.row_of[number] = room[5, number]
        matching.column_of[number] = room[6, number]
    return after


@inner
def match_boxes(matching: Matching, boxes: Int32s, count: Index, marks: Int32s) -> None:
    """Give exactly these boxes rows: the first ``count`` of ``boxes``. Rows of boxes that stay are unchanged.
    ``marks``: int32, shape (size + 1,), all 0 before and after."""
    squares = matching.squares
    for number in range(count):
        marks[boxes[number]] = 1
    for row in range(count):
        square = squares[row]
        if square < len(marks) and marks[square]:
            marks[square] = 2
    following = 0
    for row in range(count):
        square = squares[row]
        if square >= len(marks) or not marks[square]:
            while marks[boxes[following]] == 2:
                following += 1
            move_row(matching, row, np.int64(boxes[following]))
            following += 1
    for number in range(count):
        marks[boxes[number]] = 0


_Shorts = NDArray[np.uint16]

_NO_NODE = -1
_BYTES_BESIDE = 8 + 2 * 4 + 2 * 2 + 8
"""Bytes of a node in addition to its record: hash, links, move and pulls, slots."""
_BUCKETS = 1 << 12
"""The number of buckets."""
_MOST = 65534
"""The most pushes of a solution."""


class _Nodes(NamedTuple):
    """Positions by number, in the order in which they were reached.

    Attributes:
        records: uint16, shape (capacity, boxes + 1): the boxes' squares in ascending order, and the lowest
            square of the keeper's region.
        hashes: uint64, shape (capacity,).
        parents: int32, shape (capacity,): the previous node; -1 for a root.
        moves: uint16, shape (capacity,): 4 times the square from which a box was pulled, plus the direction.
        depths: uint16, shape (capacity,): pulls from the root.
        after: int32, shape (capacity,): the next node in the bucket.
        heads: int32, shape (buckets,): the first node of each bucket.
        table: int32, shape (slots,): numbers of nodes plus 1 by hash; 0 if empty.
        counts: int64, shape (5,): KNOWN nodes, the lowest bucket that may have a node, nodes _MADE, the node
            of the _SOLUTION (-1 for none), the _BEST bound so far.
    """

    records: _Shorts
    hashes: Words
    parents: Int32s
    moves: _Shorts
    depths: _Shorts
    after: Int32s
    heads: Int32s
    table: Int32s
    counts: Ints


KNOWN, _LOWEST, _MADE, _SOLUTION, _BEST = range(5)


def _new_nodes(boxes: int, memory: int) -> _Nodes:
    """Return arrays for as many nodes as fit into ``memory`` bytes; pages are allocated as they are used."""
    capacity = max(64, memory // (_BYTES_BESIDE + 8 + 2 * (boxes + 1)))
    slots = 1 << (capacity + capacity // 2).bit_length()  # at most two thirds full
    return _Nodes(
        np.empty((capacity, boxes + 1), np.uint16),
        np.empty(capacity, np.uint64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.int32),
        np.full(_BUCKETS, _NO_NODE, np.int32),
        np.zeros(slots, np.int32),
        np.array([0, 0, 0, _NO_NODE, _MOST], np.int64),
    )


@inner
def _hash_of(keys: Words, boxes: _Shorts, count: Index, keeper: Index) -> np.uint64:
    """Return the hash of boxes and keeper, from scratch. ``keys``: uint64, shape (2, size + 1)."""
    value = keys[1, keeper]
    for number in range(count):
        value ^= keys[0, boxes[number]]
    return np.uint64(value)


@inner
def _move_box(record: _Shorts, source: _Shorts, origin: Index, square: Index) -> None:
    """Write to ``record`` the ``source`` with one box moved, in ascending order."""
    last = len(record) - 1
    put = 0
    waiting = True
    for number in range(last):
        box = source[number]
        if box == origin:
            continue
        if waiting and box > square:
            record[put] = square
            put += 1
            waiting = False
        record[put] = box
        put += 1
    if waiting:
        record[put] = square


@inner
def _find_node(table: Int32s, hashes: Words, records: _Shorts, wanted: _Shorts, value: np.uint64) -> Index:
    """Return the number of the node with this record and hash; if there is none, -1 minus its slot."""
    last = np.uint64(len(table) - 1)
    slot = (value ^ (value >> np.uint64(32))) & last
    while table[slot] != 0:
        number = np.int64(table[slot]) - 1
        if hashes[number] == value:
            same = True
            for place in range(len(wanted)):
                if records[number, place] != wanted[place]:
                    same = False
                    break
            if same:
                return number
        slot = (slot + np.uint64(1)) & last
    return -1 - np.int64(slot)


_GOING_ON, _FOUND, _EMPTY, _FULL = range(4)
"""The results of :func:`_search`."""


@inner
def _wait(nodes: _Nodes, node: Index, bound: Index) -> None:
    """Put a node first in the bucket of its bound."""
    bucket = min(_BUCKETS - 1, bound)
    nodes.after[node] = nodes.heads[bucket]
    nodes.heads[bucket] = node
    nodes.counts[_LOWEST] = min(nodes.counts[_LOWEST], bucket)


@inner
def _take(nodes: _Nodes) -> Index:
    """Remove and return the first node of the lowest bucket that has one; -1 if all are empty."""
    heads, low = nodes.heads, nodes.counts[_LOWEST]
    while low < _BUCKETS and heads[low] < 0:
        low += 1
    nodes.counts[_LOWEST] = low
    if low == _BUCKETS:
        return np.int64(_NO_NODE)
    node = np.int64(heads[low])
    heads[low] = nodes.after[node]
    return node


@kernel(**ARENA)
def _add_root(
    board: Board, matching: Matching, nodes: _Nodes, boxes: Int32s, keeper: int, marks: Int32s
) -> None:
    """Add the node of a position, with boxes in ascending order. Nothing happens if the position is already
    there, or if boxes cannot be matched."""
    count = len(boxes)
    for number in range(count):
        board.occupied[boxes[number]] = BOXED
    region = walk(board, keeper)
    for number in range(count):
        board.occupied[boxes[number]] = FREE
    match_boxes(matching, boxes, count, marks)
    bound = np.int64(total_cost(matching))
    node = nodes.counts[KNOWN]
    record = nodes.records[node]
    for number in range(count):
        record[number] = boxes[number]
    record[count] = region
    value = _hash_of(board.keys, record, count, region)
    slot = _find_node(nodes.table, nodes.hashes, nodes.records, record, value)
    if slot >= 0 or bound >= FAR_COST:
        return
    nodes.table[-1 - slot] = node + 1
    nodes.hashes[node] = value
    nodes.parents[node] = _NO_NODE
    nodes.depths[node] = 0
    _wait(nodes, node, bound)
    nodes.counts[KNOWN] = node + 1


@kernel(**ARENA)
def _search(
    board: Board,
    matching: Matching,
    nodes: _Nodes,
    dead: Octets,
    marks: Int32s,
    room: Int32s,
    start: int,
    most_pulls: int,
    most: int,
) -> int:
    """Expand up to ``most`` nodes.

    Args:
        dead: uint8, shape (size + 1,): 1 on squares from which a box cannot be pulled to its start.
        marks: int32, shape (size + 1,), zeros.
        room: int32, shape (3, 4 * boxes + 1), scratch space.
        start: the square that the keeper must be able to reach at the end.
        most_pulls: longer lines do not count.

    The board is empty before and after. Returns _GOING_ON, _FOUND, _EMPTY or _FULL.
    """
    records, counts = nodes.records, nodes.counts
    occupied, neighbours = board.occupied, board.neighbours
    count = records.shape[1] - 1
    squares = room[2]
    for _ in range(most):
        if counts[KNOWN] + 4 * count >= len(records):
            return _FULL
        node = np.int64(_take(nodes))
        if node < 0:
            return _EMPTY
        for number in range(count):
            squares[number] = records[node, number]
            occupied[squares[number]] = BOXED
        region = np.int64(records[node, count])
        walk(board, region)
        match_boxes(matching, squares, count, marks)
        total = np.int64(total_cost(matching))
        if total == 0 and board.reached[start] == board.stamp[0]:
            counts[_SOLUTION] = node
            for number in range(count):
                occupied[squares[number]] = FREE
            return _FOUND
        moves = 0
        for row in range(count):
            for direction in range(4):
                ahead = neighbours[matching.squares[row], direction]
                if (
                    board.reached[ahead] == board.stamp[0]
                    and occupied[neighbours[ahead, direction]] == FREE
                    and not dead[ahead]
                ):
                    room[0, moves] = row
                    room[1, moves] = direction
                    moves += 1
        depth = np.int64(nodes.depths[node]) + 1
        bare = nodes.hashes[node] ^ board.keys[1, region]
        for number in range(moves):
            line, way = np.int64(room[0, number]), np.int64(room[1, number])
            box = np.int64(matching.squares[line])
            square = np.int64(neighbours[box, way])
            counts[_MADE] += 1
            occupied[box] = FREE
            occupied[square] = BOXED
            fresh = counts[KNOWN]
            there = np.int64(walk(board, np.int64(neighbours[square, way])))
            value = bare ^ board.keys[0, box] ^ board.keys[0, square] ^ board.keys[1, there]
            record = records[fresh]
            _move_box(record, records[node], box, square)
            record[count] = there
            slot = np.int64(_find_node(nodes.table, nodes.hashes, records, record, value))
            if slot < 0:
                nodes.table[-1 - slot] = fresh + 1
                nodes.hashes[fresh] = value
                nodes.parents[fresh] = node
                nodes.moves[fresh] = 4 * box + way
                nodes.depths[fresh] = depth
                counts[KNOWN] = fresh + 1
                bound = np.int64(cost_after(matching, line, square, total))
                if bound + depth <= most_pulls:
                    _wait(nodes, fresh, bound)
                    counts[_BEST] = min(counts[_BEST], bound)
            occupied[square] = FREE
            occupied[box] = BOXED
        for number in range(count):
            occupied[squares[number]] = FREE
    return _GOING_ON


_UNITS = 16
_SECONDS_A_CALL = 0.02


class Backward(PushSearch):
    """Begins from every region in which the keeper may end.

    It gives up if there are more goals than boxes.
    """

    name: ClassVar[str] = "backward"

    def __init__(self, task: PushTask) -> None:
        super().__init__(task)
        self._rate = 20_000.0  # nodes per CPU second, as last measured
        self._nodes: _Nodes | None = None

    def step(self, deadline: float) -> bool:
        """See :class:`~players.companions.Stepwise`."""
        while not self.over and (left := deadline - time.monotonic()) > 0:
            # A first call may load a kernel: the rate may at most double.
            units = max(_UNITS, int(self._rate * min(left, _SECONDS_A_CALL)))
            began = time.thread_time()
            self._work(units)
            self._rate = min(units / max(time.thread_time() - began, 1e-6), 2 * self._rate)
        return self.over

    def _prepare(self) -> None:
        """Prepare bounds and roots."""
        task, geometry = self.task, self.task.geometry
        if len(geometry.goals) != len(task.start.boxes):
            self.outcome = Outcome.GAVE_UP
            return
        self._board = new_board(geometry)
        goals = np.ascontiguousarray(geometry.goals, np.int32)
        self._nodes = _new_nodes(len(goals), task.memory)
        self._marks = np.zeros(geometry.size + 1, np.int32)
        self._room = np.zeros((3, 4 * len(goals) + 1), np.int32)
        distances = start_distances(geometry, task.start)
        self._matching = new_matching(distances)
        self._dead = (distances == FAR).all(axis=0).astype(np.uint8)
        for keeper in sorted(set(range(geometry.size)) - set(goals.tolist())):
            _add_root(self._board, self._matching, self._nodes, goals, keeper, self._marks)

    def _work(self, units: int) -> None:
        if self._nodes is None:
            self._prepare()
        nodes, limit = self._nodes, self.task.most_pushes
        if nodes is None:
            return
        status = _search(
            self._board, self._matching, nodes, self._dead, self._marks, self._room,
            self.task.start.keeper, _MOST if limit is None else min(_MOST, limit), units,
        )  # fmt: skip
        self.positions, self.bound = int(nodes.counts[_MADE]), int(nodes.counts[_BEST])
        if status == _FOUND:
            self._conclude(nodes)
        elif status == _EMPTY:
            # A position first reached with too many pulls is not examined again.
            self.outcome = Outcome.UNSOLVABLE if limit is None else Outcome.GAVE_UP
        elif status == _FULL:
            self.outcome = Outcome.MEMORY_FULL

    def _conclude(self, nodes: _Nodes) -> None:
        """Take the pushes to the solution: the last pull is the first push."""
        neighbours, node = self.task.geometry.neighbours, int(nodes.counts[_SOLUTION])
        while nodes.parents[node] >= 0:
            square, way = divmod(int(nodes.moves[node]), 4)
            self.pushes.append((int(neighbours[square, way]), way ^ 2))
            node = int(nodes.parents[node])
        self.outcome = Outcome.SOLVED

"""Best-first searches by pushes, in slices: A* forwards (Hart, Nilsson and Raphael 1968), and greedy search
by pulls from the goals to the start (Takes 2008).

A node's key is a weighted sum of its depth and its bound, the least matching of boxes and goals
(:mod:`players.puzzles.sokoban.search.matching`). Nodes with the least key go first, and among them the
newest.

Positions are packed records with Zobrist hashes (Zobrist 1970) in a hash table, with a queue of buckets, all
in flat arrays.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, new_board, walk
from players.puzzles.sokoban.deadlocks.corral_deadlock import (
    CorralDetector,
    corral_pushes,
    new_corral_detector,
)
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock, new_freeze
from players.puzzles.sokoban.deadlocks.pi_corral import OPEN
from players.puzzles.sokoban.distances import FAR, start_distances
from players.puzzles.sokoban.lines import Push
from players.puzzles.sokoban.search.matching import (
    FAR_COST,
    Matching,
    cost_after,
    match_boxes,
    new_matching,
    total_cost,
)
from players.puzzles.sokoban.search.push_search import PushSearch, PushTask, SliceRate, checked
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel

_Shorts = NDArray[np.uint16]

_NO_NODE = -1
_BYTES_BESIDE = 8 + 4 * 4 + 3 * 2 + 8
"""Bytes of a node in addition to its record: hash, links, parent, push, pushes, estimate, slots."""
_BUCKETS = 1 << 12
"""The number of buckets."""


class Nodes(NamedTuple):
    """Positions by number, in the order in which they were reached.

    Attributes:
        records: uint16, shape (capacity, boxes + 1): the boxes' squares in ascending order, and the lowest
            square of the keeper's region.
        hashes: uint64, shape (capacity,).
        parents: int32, shape (capacity,): the previous node; -1 for a root.
        moves: uint16, shape (capacity,): 4 times the square from which the box was moved, plus the direction.
        depths: uint16, shape (capacity,): pushes from the root.
        estimates: uint16, shape (capacity,): pushes still to make.
        keys: int32, shape (capacity,): the bucket of a waiting node, -1 for none.
        before, after: int32, shape (capacity,): neighbours in the bucket.
        heads: int32, shape (buckets,): the first node of each bucket.
        table: int32, shape (slots,): numbers of nodes plus 1 by hash; 0 if empty.
    """

    records: _Shorts
    hashes: Words
    parents: Int32s
    moves: _Shorts
    depths: _Shorts
    estimates: _Shorts
    keys: Int32s
    before: Int32s
    after: Int32s
    heads: Int32s
    table: Int32s


def _new_nodes(boxes: int, memory: int) -> Nodes:
    """Return arrays for as many nodes as fit into ``memory`` bytes; pages are allocated as they are used."""
    capacity = max(64, memory // (_BYTES_BESIDE + 8 + 2 * (boxes + 1)))
    slots = 1 << (capacity + capacity // 2).bit_length()  # at most two thirds full
    return Nodes(
        np.empty((capacity, boxes + 1), np.uint16),
        np.empty(capacity, np.uint64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.full(_BUCKETS, _NO_NODE, np.int32),
        np.zeros(slots, np.int32),
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


@inner
def link(heads: Int32s, keys: Int32s, before: Int32s, after: Int32s, node: Index, key: Index) -> None:
    """Put a node first in a bucket."""
    first = heads[key]
    keys[node] = key
    before[node] = _NO_NODE
    after[node] = first
    if first >= 0:
        before[first] = node
    heads[key] = node


@inner
def unlink(heads: Int32s, keys: Int32s, before: Int32s, after: Int32s, node: Index) -> None:
    """Remove a node from its bucket."""
    if before[node] >= 0:
        after[before[node]] = after[node]
    else:
        heads[keys[node]] = after[node]
    if after[node] >= 0:
        before[after[node]] = before[node]
    keys[node] = _NO_NODE


KNOWN, _LOWEST, EXPANDED, MADE, SOLUTION, BEST = range(6)
"""Entries of ``counts``: nodes, the lowest bucket that may have a node, nodes expanded, children generated,
the node of the solution (-1 for none), the lowest estimate reached."""

_DEPTH_WEIGHT, _ESTIMATE_WEIGHT, _PULLING, KEEPER, _MOST_PUSHES, CORRAL_BUDGET = range(6)
"""Entries of ``settings``: weights of the key; whether boxes are pulled; for pulls, the square that the
keeper must be able to reach at the end; the most pushes that count; the states that a corral search may
expand."""

DEAD = 65535
"""The estimate of a node that leads to no solution."""
MOST = DEAD - 1
"""The most pushes of a solution."""

GOING_ON, FOUND, EMPTY, FULL = range(4)
"""The results of :func:`search`."""


@inner
def _can_pull(board: Board, box: Index, direction: Index) -> bool:
    """Return whether the keeper of the last walk can pull this box by one square in this direction."""
    ahead = board.neighbours[box, direction]
    return bool(
        board.reached[ahead] == board.stamp[0] and board.occupied[board.neighbours[ahead, direction]] == FREE
    )


@inner
def _is_listed(pushes: Int32s, count: Index, box: Index, direction: Index) -> bool:
    """Return whether a push is among the first ``count`` rows."""
    listed = False
    for row in range(count):
        listed |= pushes[row, 0] == box and pushes[row, 1] == direction
    return listed


@inner
def key_of(settings: Ints, depth: Index, estimate: Index) -> Index:
    """Return the bucket of a node."""
    key = settings[_DEPTH_WEIGHT] * np.int64(depth) + settings[_ESTIMATE_WEIGHT] * np.int64(estimate)
    return np.int64(min(_BUCKETS - 1, key))


@inner
def wait(nodes: Nodes, counts: Ints, node: Index, key: Index) -> None:
    """Put a node into a bucket."""
    link(nodes.heads, nodes.keys, nodes.before, nodes.after, node, key)
    counts[_LOWEST] = min(counts[_LOWEST], key)


@inner
def _next_bucket(heads: Int32s, counts: Ints) -> Index:
    """Return the lowest bucket that has a node; -1 if all are empty."""
    low = counts[_LOWEST]
    while low < _BUCKETS and heads[low] < 0:
        low += 1
    counts[_LOWEST] = low
    return low if low < _BUCKETS else -1


@kernel(**ARENA)
def add_root(
    board: Board,
    matching: Matching,
    nodes: Nodes,
    boxes: Int32s,
    keeper: int,
    settings: Ints,
    counts: Ints,
    marks: Int32s,
) -> None:
    """Add the node of a position, with boxes in ascending order. Nothing happens if the position is already
    there, or if boxes cannot be matched with goals."""
    count = len(boxes)
    for number in range(count):
        board.occupied[boxes[number]] = BOXED
    region = walk(board, keeper)
    for number in range(count):
        board.occupied[boxes[number]] = FREE
    match_boxes(matching, boxes, count, marks)
    estimate = np.int64(total_cost(matching))
    node = counts[KNOWN]
    record = nodes.records[node]
    for number in range(count):
        record[number] = boxes[number]
    record[count] = region
    value = _hash_of(board.keys, record, count, region)
    slot = _find_node(nodes.table, nodes.hashes, nodes.records, record, value)
    if slot >= 0 or estimate >= FAR_COST:
        return
    nodes.table[-1 - slot] = node + 1
    nodes.hashes[node] = value
    nodes.parents[node] = -1
    nodes.depths[node] = 0
    nodes.estimates[node] = estimate
    wait(nodes, counts, node, key_of(settings, 0, estimate))
    counts[KNOWN] = node + 1


@kernel(**ARENA)
def search(
    board: Board,
    freeze: Freeze,
    detector: CorralDetector | None,
    matching: Matching,
    nodes: Nodes,
    dead: Octets,
    settings: Ints,
    counts: Ints,
    marks: Int32s,
    room: Int32s,
    most: int,
) -> int:
    """Expand up to ``most`` nodes. Without a ``detector``, corrals are not examined, and compiling takes half
    the time. ``room``: int32, shape (3, 4 * boxes + 1), scratch space. The board is empty before and after.
    Returns GOING_ON, FOUND, EMPTY or FULL."""
    records, heads, keys, before, after = nodes.records, nodes.heads, nodes.keys, nodes.before, nodes.after
    occupied, neighbours = board.occupied, board.neighbours
    count = records.shape[1] - 1
    capacity = len(records)
    pulling = settings[_PULLING] != 0
    greedy = settings[_DEPTH_WEIGHT] == 0
    squares = room[2]
    for _ in range(most):
        if counts[KNOWN] + 4 * count >= capacity:
            return FULL
        bucket = _next_bucket(heads, counts)
        if bucket < 0:
            return EMPTY
        node = np.int64(heads[bucket])
        unlink(heads, keys, before, after, node)
        counts[EXPANDED] += 1
        for number in range(count):
            squares[number] = records[node, number]
            occupied[squares[number]] = BOXED
        region = np.int64(records[node, count])
        walk(board, region)
        if nodes.estimates[node] == 0 and (not pulling or board.reached[settings[KEEPER]] == board.stamp[0]):
            counts[SOLUTION] = node
            for number in range(count):
                occupied[squares[number]] = FREE
            return FOUND
        match_boxes(matching, squares, count, marks)
        total = np.int64(total_cost(matching))
        moves = 0
        needed = np.int64(OPEN)
        if detector is not None:
            needed = np.int64(corral_pushes(board, detector, region, settings[CORRAL_BUDGET]))
        for row in range(count):
            one = np.int64(matching.squares[row])
            for direction in range(4):
                if pulling:
                    able = _can_pull(board, one, direction)
                else:
                    able = can_push(board, one, direction)
                if detector is not None:  # noqa: SIM102
                    if needed != OPEN and able:
                        able = _is_listed(detector.pushes, needed, one, direction)
                if able and not dead[neighbours[one, direction]]:
                    room[0, moves] = row
                    room[1, moves] = direction
                    moves += 1
        depth = np.int64(nodes.depths[node]) + 1
        bare = nodes.hashes[node] ^ board.keys[1, region]
        for number in range(moves):
            line, way = np.int64(room[0, number]), np.int64(room[1, number])
            box = np.int64(matching.squares[line])
            square = np.int64(neighbours[box, way])
            counts[MADE] += 1
            occupied[box] = FREE
            occupied[square] = BOXED
            fresh = counts[KNOWN]
            keeper = np.int64(neighbours[square, way]) if pulling else box
            there = np.int64(walk(board, keeper))
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
                keys[fresh] = -1
                counts[KNOWN] = fresh + 1
                estimate: Index = FAR_COST
                if pulling or not is_freeze_deadlock(board, freeze, square):
                    estimate = cost_after(matching, line, square, total)
                nodes.estimates[fresh] = min(np.int64(estimate), np.int64(DEAD))
                if estimate + depth <= settings[_MOST_PUSHES]:
                    wait(nodes, counts, fresh, key_of(settings, depth, estimate))
                    counts[BEST] = min(counts[BEST], estimate)
            elif (
                not greedy
                and depth < nodes.depths[slot]
                and np.int64(nodes.estimates[slot]) + depth <= settings[_MOST_PUSHES]
            ):
                nodes.depths[slot] = depth
                nodes.parents[slot] = node
                nodes.moves[slot] = 4 * box + way
                if keys[slot] >= 0:
                    unlink(heads, keys, before, after, slot)
                wait(nodes, counts, slot, key_of(settings, depth, np.int64(nodes.estimates[slot])))
            occupied[square] = FREE
            occupied[box] = BOXED
        for number in range(count):
            occupied[squares[number]] = FREE
    return GOING_ON


class BestFirst(PushSearch):
    """Expands the position with the lowest key: a weighted sum of the pushes made and of a lower bound of the
    pushes left.

    Attributes:
        weights: the weights of the pushes made and of the lower bound.
        pulling: whether it goes from the goals to the start, by pulls.
        corral_budget: the states that each corral search may expand; -1 to ignore corrals.
    """

    weights: ClassVar[tuple[int, int]]
    pulling: ClassVar[bool] = False
    corral_budget: ClassVar[int] = -1

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
        self._nodes = _new_nodes(len(boxes), task.memory)
        self._counts = np.zeros(6, np.int64)
        self._counts[SOLUTION] = -1
        self._counts[BEST] = MOST
        self._marks = np.zeros(task.geometry.size + 1, np.int32)
        self._room = np.zeros((3, 4 * len(boxes) + 1), np.int32)
        most = MOST if task.most_pushes is None else min(MOST, task.most_pushes)
        self._settings = np.array(
            [*self.weights, self.pulling, task.start.keeper, most, self.corral_budget],
            np.int64,
        )
        self._ready = True
        self._aim(boxes)

    def _aim(self, boxes: Int32s) -> None:
        """Prepare bounds and roots."""
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
        status = search(
            self._board, self._freeze, self._corrals, self._matching, self._nodes,
            self._dead, self._settings, self._counts, self._marks, self._room, units,
        )  # fmt: skip
        self.progress.positions = int(self._counts[MADE])
        self.progress.bound = int(self._counts[BEST])
        if status == FOUND:
            self.pushes = self.line_to(int(self._counts[SOLUTION]))
            self.optimal = self.weights == (1, 1) and not self.pulling
            self.outcome = Outcome.SOLVED
        elif status == EMPTY:
            # A position first reached with too many pushes is not examined again, except by A*.
            proven = self.task.most_pushes is None or self.weights == (1, 1)
            self.outcome = Outcome.UNSOLVABLE if proven else Outcome.GAVE_UP
        elif status == FULL:
            self.outcome = Outcome.MEMORY_FULL
        return bool(status == GOING_ON)

    def line_to(self, node: int) -> list[Push]:
        """Return the pushes between the root and a node, in the order of play."""
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


class Backward(BestFirst):
    """Greedy best-first search by pulls, from every region in which the keeper may end.

    It gives up if there are more goals than boxes.
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

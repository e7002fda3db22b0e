"""Find the sets of K boxes, K from 2 to 5, that can still be brought to K goals, by keeper side: retrograde
analysis by pulls from all sets of K goals (Thompson 1986).

For pairs a state is two boxes and a set of connected sides: the neighbours of the two boxes that the keeper
can walk to from one another.

Larger sets are found for all squares of the last box at once. The set is divided into a base of K - 1 boxes
and one more. A row belongs to a base and one of its sides, the neighbour of one of its boxes, on which the
keeper is; it has a bit for each square of the further box. A pull of a box of the base, and the keeper's
walks between sides of the base, are operations on whole rows. A set has K bases: the results of one are
passed on to the others bit by bit. Only states that are alive are reached, so sets with a dead subset cost
nothing.

Articulation points (Hopcroft and Tarjan 1973) show how one more box divides the keeper's squares, for all
places of that box at once.

Around a set of m boxes there are 4 m sides: side 4 i + d is the neighbour of box i in direction d. Wherever
one more box c stands, some of these sides stay connected. A block is a set of sides together with all c for
which just they are connected (and some of them lie apart from the others). One depth-first walk finds all
blocks: a box on c makes a difference only if c is an articulation point or a side itself.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.deadsets.squares import BoxSquares, exchange, rank, unrank
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, lowest_bit, put


def alive_pairs(squares: BoxSquares) -> Words:
    """Return the pairs that can be solved.

    Returns uint64, shape (4 n, words): bit b of row 4 a + d is set if boxes on a and b can be brought to two
    goals by a keeper who is on a's neighbour in direction d.
    """
    n = len(squares.squares)
    alive = np.zeros((4 * max(n, 1), squares.words), np.uint64)
    parts = np.zeros((n * (n - 1) // 2, 8), np.uint8)
    _connect_all(squares, parts, np.zeros((2, len(squares.numbers)), np.int32))
    alive_sides = np.zeros(len(parts), np.uint8)
    solved = np.array(list(combinations(squares.goals.tolist(), 2)), np.int32).reshape(-1, 2)
    _spread_pairs(squares, solved, parts, alive_sides, np.zeros((8 * len(parts), 3), np.int32))
    _in_rows(n, alive_sides, alive)
    return alive


@inner
def _connect_sides(
    squares: BoxSquares, low: Index, high: Index, parts: Octets, room: Int32s, stamp: Index
) -> Index:
    """Fill ``parts``, uint8, shape (8,): for each side of two boxes (the lower one's four directions, then
    the other's) the bits of all sides that the keeper can walk to from there; 0 if he cannot stand there.
    ``room``: int32, shape (2, size + 1): marks and a queue. Returns the last stamp used for marks."""
    neighbours = squares.neighbours
    outside = len(neighbours) - 1
    first, second = squares.squares[low], squares.squares[high]
    marks, queue = room[0], room[1]
    for side in range(8):
        parts[side] = 0
    left = np.int64(0)
    for side in range(8):
        there = neighbours[first if side < 4 else second, side & 3]
        if there != outside and there != first and there != second:
            left |= 1 << side
    for side in range(8):
        if not left >> side & 1:
            continue
        stamp += 1
        marks[first] = stamp
        marks[second] = stamp
        start = neighbours[first if side < 4 else second, side & 3]
        marks[start] = stamp
        queue[0] = start
        head, tail = 0, 1
        found = np.int64(0)
        while head < tail and found != left:
            square = queue[head]
            head += 1
            for direction in range(4):
                there = neighbours[square, direction]
                if there == first:
                    found |= 1 << (direction ^ 2)
                elif there == second:
                    found |= 16 << (direction ^ 2)
                elif there != outside and marks[there] != stamp:
                    marks[there] = stamp
                    queue[tail] = there
                    tail += 1
        found &= left
        left &= ~found
        for other in range(8):
            if found >> other & 1:
                parts[other] = np.uint8(found)
    return stamp


@kernel(**ARENA)
def _connect_all(squares: BoxSquares, parts: Octets, room: Int32s) -> None:
    stamp: Index = 0
    for high in range(len(squares.squares)):
        for low in range(high):
            stamp = _connect_sides(squares, low, high, parts[high * (high - 1) // 2 + low], room, stamp)


@kernel(**ARENA)
def _spread_pairs(squares: BoxSquares, solved: Int32s, parts: Octets, known: Octets, stack: Int32s) -> None:
    """Go back by pulls from solved pairs.

    Args:
        solved: int32, shape (any, 2): pairs on goals, ascending each.
        parts: uint8, shape (pairs, 8): how the sides of all pairs are connected (:func:`_connect_sides`).
        known: uint8, shape (pairs,), zeros: receives the sides that are alive, the lower box's first.
        stack: int32, shape (8 pairs, 3), a stack of pairs and sides to continue from.
    """
    neighbours, numbers = squares.neighbours, squares.numbers
    outside = len(neighbours) - 1
    depth = 0
    for row in range(len(solved)):
        pair = solved[row, 1] * (solved[row, 1] - 1) // 2 + solved[row, 0]
        for side in range(8):
            known[pair] |= parts[pair, side]
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = solved[row, 0], solved[row, 1], known[pair]
        depth += 1
    while depth:
        depth -= 1
        low, high, sides = stack[depth]
        for side in range(8):
            if not sides >> side & 1:
                continue
            box, other = (low, high) if side < 4 else (high, low)
            other_square = squares.squares[other]
            origin = neighbours[squares.squares[box], side & 3]
            behind = neighbours[origin, side & 3]
            if behind == outside or numbers[origin] < 0 or other_square == behind:
                continue
            moved = np.int64(numbers[origin])
            first, second = (moved, other) if moved < other else (other, moved)
            pair = second * (second - 1) // 2 + first
            new = parts[pair, (side & 3) + (0 if moved == first else 4)]
            if new & ~known[pair]:
                known[pair] |= new
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = first, second, new
                depth += 1


@kernel(**ARENA)
def _in_rows(n: Index, known: Octets, alive: Words) -> None:
    for high in range(n):
        for low in range(high):
            sides = known[high * (high - 1) // 2 + low]
            for direction in range(4):
                if sides >> direction & 1:
                    alive[4 * low + direction, high >> 6] |= np.uint64(1) << np.uint64(high & 63)
                if sides >> direction & 16:
                    alive[4 * high + direction, low >> 6] |= np.uint64(1) << np.uint64(low & 63)


class _WalkRoom(NamedTuple):
    """Scratch arrays of a depth-first walk, int32, shape (size + 1,) each.

    Attributes:
        met, left: the times when a square was reached and left; 0 is never.
        low: the earliest square that its subtree touches.
        parent, turn, stack: the state of the walk.
        order: the square reached at each time.
        cuts: 1 where the square separates others.
        row: shape (1,): the number of filled blocks.
    """

    met: Int32s
    left: Int32s
    low: Int32s
    parent: Int32s
    turn: Int32s
    stack: Int32s
    order: Int32s
    cuts: Int32s
    row: Ints


def _walk_room(squares: BoxSquares) -> _WalkRoom:
    """Return new scratch arrays."""
    size = len(squares.numbers)
    met, left, low, parent, turn, stack, order, cuts = np.zeros((8, size + 1), np.int32)
    return _WalkRoom(met, left, low, parent, turn, stack, order, cuts, np.zeros(1, np.int64))


@inner
def _walk_in_depth(neighbours: Int32s, start: Index, clock: Index, room: _WalkRoom) -> Index:
    """Visit all squares connected to ``start`` that were not visited before. Returns the time of the last
    one."""
    met, left, low, parent, turn, stack = room.met, room.left, room.low, room.parent, room.turn, room.stack
    outside = len(neighbours) - 1
    clock += 1
    met[start] = low[start] = clock
    room.order[clock] = start
    room.cuts[start] = 0
    parent[start] = outside
    turn[start] = 0
    stack[0] = start
    depth, children = 1, 0
    while depth:
        square = stack[depth - 1]
        if turn[square] == 4:
            left[square] = clock
            depth -= 1
            above = parent[square]
            if above != outside:
                low[above] = min(low[above], low[square])
                if above == start:
                    children += 1
                elif low[square] >= met[above]:
                    room.cuts[above] = 1
            continue
        there = neighbours[square, turn[square]]
        turn[square] += 1
        if there == outside or met[there] < 0:
            continue
        if met[there]:
            if there != parent[square]:
                low[square] = min(low[square], met[there])
            continue
        clock += 1
        met[there] = low[there] = clock
        room.order[clock] = there
        room.cuts[there] = 0
        parent[there] = square
        turn[there] = 0
        stack[depth] = there
        depth += 1
    if children > 1:
        room.cuts[start] = 1
    return clock


@inner
def _put(masks: Int32s, sets: Words, first: Index, row: Ints, mask: Index, number: Index) -> Index:
    """Add a square to the block of these sides. Returns 0 if there is no space for more blocks, otherwise
    1."""
    at = first
    while at < row[0] and masks[at] != mask:
        at += 1
    if at == row[0]:
        if at == len(masks):
            return 0
        masks[at] = mask
        sets[at] = np.uint64(0)
        row[0] += 1
    if number >= 0:
        sets[at, number >> 6] |= np.uint64(1) << np.uint64(number & 63)
    return 1


@inner
def _fill_blocks(
    squares: BoxSquares,
    members: Ints,
    count: Index,
    masks: Int32s,
    sets: Words,
    first: Index,
    room: _WalkRoom,
) -> Index:
    """Find the blocks of the boxes ``members[:count]``.

    ``masks``: int32, shape (blocks,), receives the sides of each block from ``first`` on, and ``sets``:
    uint64, shape (blocks, words), the squares of the further box. Returns the end of the filled blocks, or -1
    if they do not fit.
    """
    neighbours, numbers = squares.neighbours, squares.numbers
    outside = len(neighbours) - 1
    met = room.met
    met[:] = 0
    room.row[0] = first
    for i in range(count):
        met[squares.squares[members[i]]] = -1
    clock: Index = 0
    for start_side in range(4 * count):
        start = neighbours[squares.squares[members[start_side >> 2]], start_side & 3]
        if start == outside or met[start]:
            continue
        begin = clock + 1
        clock = _walk_in_depth(neighbours, start, clock, room)
        sides = np.int64(0)
        for side in range(start_side, 4 * count):
            there = neighbours[squares.squares[members[side >> 2]], side & 3]
            if there != outside and met[there] >= begin:
                sides |= 1 << side
                room.cuts[there] |= 2
        if not sides & (sides - 1):
            continue
        if not _put(masks, sets, first, room.row, sides, -1):
            return -1
        whole = room.row[0] - 1  # no block has these sides yet: other walks reached others
        for w in range(sets.shape[1]):
            sets[whole, w] = ~np.uint64(0)
        for moment in range(begin, clock + 1):
            square = room.order[moment]
            number = np.int64(numbers[square])
            if number < 0 or not room.cuts[square]:
                continue
            sets[whole, number >> 6] &= ~(np.uint64(1) << np.uint64(number & 63))
            rest = np.int64(0)
            by_child0, by_child1, by_child2, by_child3 = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for side in range(start_side, 4 * count):
                if not sides >> side & 1:
                    continue
                there = neighbours[squares.squares[members[side >> 2]], side & 3]
                if there == square:
                    continue
                bit = np.int64(1) << side
                if moment < met[there] <= room.left[square]:
                    for direction in range(4):
                        child = neighbours[square, direction]
                        if (
                            child != outside
                            and room.parent[child] == square
                            and moment < met[child] <= met[there] <= room.left[child]
                        ):
                            if room.low[child] < moment:
                                rest |= bit
                            elif direction == 0:
                                by_child0 |= bit
                            elif direction == 1:
                                by_child1 |= bit
                            elif direction == 2:
                                by_child2 |= bit
                            else:
                                by_child3 |= bit
                            break
                else:
                    rest |= bit
            for group in (rest, by_child0, by_child1, by_child2, by_child3):
                if group & (group - 1) and not _put(masks, sets, first, room.row, group, number):
                    return -1
        for i in range(count):
            sets[whole, members[i] >> 6] &= ~(np.uint64(1) << np.uint64(members[i] & 63))
    return np.int64(room.row[0])


_DONE, _MORE, _NO_ROOM = range(3)
_ALIVE, _PULLED, _SHARED = range(3)
_BATCH = 20_000
"""Bases between two looks at the clock."""


def bytes_needed(squares: BoxSquares, size: int) -> int:
    """Return about the most bytes that :func:`alive_sets` takes for sets of ``size`` boxes."""
    bases = int(squares.choose[-1, size - 1])
    return bases * (4 * 4 * (size - 1) * squares.words * 8 + 20 + 8 * (8 * squares.words + 4))


def alive_sets(squares: BoxSquares, size: int, deadline: float = np.inf) -> Words | None:
    """Return the sets of ``size`` boxes that can be solved; None if the deadline stops it.

    Returns uint64, shape (4 (size - 1) bases, words): row 4 (size - 1) T + 4 i + d is for the base of number
    T and the keeper on the neighbour in direction d of its box i; its bit c is for one more box on c.

    Args:
        deadline: of this thread's CPU time (``time.thread_time``), in seconds.
    """
    n, count = len(squares.squares), size - 1
    bases = int(squares.choose[-1, count])
    if n < size or len(squares.goals) < size:
        return np.zeros((4 * count * bases, squares.words), np.uint64)
    rows = np.zeros((4 * count * bases, 3, squares.words), np.uint64)
    queue = np.zeros(bases + 1, np.int32)
    waiting = np.zeros(bases, np.uint8)
    block_ends = np.zeros((bases, 2), np.int32)
    masks = np.zeros(8 * bases + 64, np.int32)
    sets = np.zeros((len(masks), squares.words), np.uint64)
    state = np.zeros(3, np.int64)
    members = np.zeros((10, 8), np.int64)
    room = _walk_room(squares)
    _seed(squares, count, rows, queue, waiting, state, members)
    while True:
        end = _spread(
            squares, count, rows, queue, waiting, block_ends, masks, sets, state, members, room, _BATCH
        )
        if end == _DONE:
            return rows[:, _ALIVE].copy()
        if end == _NO_ROOM:
            masks = np.concatenate([masks, np.zeros_like(masks)])
            sets = np.concatenate([sets, np.zeros_like(sets)])
        if time.thread_time() > deadline:
            return None


@inner
def _wait(queue: Int32s, waiting: Words, state: Ints, base: Index) -> None:
    """Queue a base in the ring buffer ``queue``, once. ``state``: int64, shape (3,): its head and tail, and
    the number of filled blocks."""
    if not waiting[base]:
        waiting[base] = 1
        queue[state[1]] = base
        state[1] += 1
        if state[1] == len(queue):
            state[1] = 0


@kernel(**ARENA)
def _seed(
    squares: BoxSquares, count: Index, rows: Words, queue: Int32s, waiting: Words, state: Ints, members: Ints
) -> None:
    """Mark the solved sets: all squares of a base, and the further one, are goals."""
    goals, choose = squares.goals, squares.choose
    outside = len(squares.neighbours) - 1
    subsets = choose[len(goals), count]
    picked, base = members[0], members[1]
    for number in range(subsets):
        unrank(choose, number, count, picked)
        for i in range(count):
            base[i] = goals[picked[i]]
        at = rank(choose, base, count)
        for side in range(4 * count):
            square = squares.neighbours[squares.squares[base[side >> 2]], side & 3]
            if square == outside:
                continue
            taken = False
            for i in range(count):
                if squares.squares[base[i]] == square:
                    taken = True
            if taken:
                continue
            for goal in goals:
                if squares.squares[goal] != square:
                    rows[4 * count * at + side, _ALIVE, goal >> 6] |= np.uint64(1) << np.uint64(goal & 63)
            for i in range(count):
                rows[4 * count * at + side, _ALIVE, base[i] >> 6] &= ~(
                    np.uint64(1) << np.uint64(base[i] & 63)
                )
        _wait(queue, waiting, state, at)


@inner
def _other_bases(choose: Ints, base: Ints, count: Index, keep: Index, leads: Ints, rest: Ints) -> None:
    """Prepare the numbers of the bases in which ``base[j]`` is replaced by a further box c.

    ``leads``: int64, shape (8, 8): entry [j, p] is the part of the base's number that does not depend on c if
    p others lie below c; entry [4 + j, p] is the place of ``base[keep]`` in that base.
    """
    for j in range(count):
        left = 0
        for k in range(count):
            if k != j:
                rest[left] = base[k]
                left += 1
        for place in range(count):
            number = np.int64(0)
            for k in range(count - 1):
                number += choose[rest[k], k + 1 if k < place else k + 2]
                if rest[k] == base[keep]:
                    leads[4 + j, place] = k if k < place else k + 1
            leads[j, place] = number


@kernel(**ARENA)
def _spread(
    squares: BoxSquares,
    count: Index,
    rows: Words,
    queue: Int32s,
    waiting: Words,
    block_ends: Int32s,
    masks: Int32s,
    sets: Words,
    state: Ints,
    members: Ints,
    room: _WalkRoom,
    most: Index,
) -> int:
    """Process at most ``most`` of the waiting bases.

    ``rows``: uint64, shape (rows, 3, words): the sets that are alive, those among them whose pulls were made,
    and those that were passed on to all other bases of the set. ``block_ends``, ``masks`` and ``sets`` hold
    the blocks of each base, found when it is first reached.
    """
    choose, neighbours, numbers = squares.choose, squares.neighbours, squares.numbers
    outside = len(neighbours) - 1
    sides = 4 * count
    words = rows.shape[2]
    base, other, leads = members[0], members[1], members[2:]
    for _ in range(most):
        if state[0] == state[1]:
            return _DONE
        at = np.int64(queue[state[0]])
        unrank(choose, at, count, base)
        if block_ends[at, 1] == 0:
            end = _fill_blocks(squares, base, count, masks, sets, state[2], room)
            if end < 0:
                return _NO_ROOM
            block_ends[at, 0], block_ends[at, 1] = state[2], end + 1
            state[2] = end
        state[0] += 1
        if state[0] == len(queue):
            state[0] = 0
        waiting[at] = 0
        for block in range(block_ends[at, 0], block_ends[at, 1] - 1):
            for w in range(words):
                reach = item(sets, block * words + w)
                bits, least = np.uint64(0), reach
                mask = np.uint64(item(masks, block))
                while mask:
                    row = (sides * at + lowest_bit(mask)) * 3 * words + w
                    mask &= mask - np.uint64(1)
                    bits |= item(rows, row)
                    least &= item(rows, row)
                bits &= reach
                if bits == least:
                    continue
                mask = np.uint64(item(masks, block))
                while mask:
                    row = (sides * at + lowest_bit(mask)) * 3 * words + w
                    mask &= mask - np.uint64(1)
                    put(rows, row, item(rows, row) | bits)
        fresh_box = -1
        for side in range(sides):
            row = sides * at + side
            i, direction = side >> 2, side & 3
            fresh = False
            for w in range(words):
                if rows[row, _ALIVE, w] != rows[row, _PULLED, w]:
                    fresh = True
            if not fresh:
                continue
            origin = neighbours[squares.squares[base[i]], direction]
            behind = neighbours[origin, direction]
            moved = np.int64(numbers[origin])
            free = behind != outside and moved >= 0
            for j in range(count):
                if squares.squares[base[j]] == behind:
                    free = False
            if free:
                place = exchange(base, count, i, moved, other)
                target = rank(choose, other, count)
                into = sides * target + 4 * place + direction
                blocked = np.int64(numbers[behind])
                changed = np.uint64(0)
                for w in range(words):
                    bits = rows[row, _ALIVE, w] & ~rows[row, _PULLED, w]
                    if blocked >= 0 and blocked >> 6 == w:
                        bits &= ~(np.uint64(1) << np.uint64(blocked & 63))
                    changed |= bits & ~rows[into, _ALIVE, w]
                    rows[into, _ALIVE, w] |= bits
                if changed:
                    _wait(queue, waiting, state, target)
            if fresh_box != i:
                _other_bases(choose, base, count, i, leads, other)
                fresh_box = i
            for w in range(words):
                left = rows[row, _ALIVE, w] & ~rows[row, _SHARED, w]
                rows[row, _PULLED, w] = rows[row, _ALIVE, w]
                rows[row, _SHARED, w] = rows[row, _ALIVE, w]
                while left:
                    further = 64 * w + lowest_bit(left)
                    left &= left - np.uint64(1)
                    for j in range(count):
                        if j == i:
                            continue
                        place = 0
                        for k in range(count):
                            if k != j and base[k] < further:
                                place += 1
                        target = item(leads, 8 * j + place) + choose[further, place + 1]
                        where = 4 * (count * target + item(leads, 8 * j + place + 32)) + direction
                        where = 3 * words * where + (base[j] >> 6)
                        bit = np.uint64(1) << np.uint64(base[j] & 63)
                        old = item(rows, where)
                        if not old & bit:
                            put(rows, where, old | bit)
                            _wait(queue, waiting, state, target)
                        put(rows, where + 2 * words, item(rows, where + 2 * words) | bit)
    return _MORE

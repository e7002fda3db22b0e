"""Which sets of K boxes, K of 3 to 5, can still be brought to K goals, by keeper side: retrograde analysis by
pulls (Thompson 1986), for all squares of the last box at once.

The set is divided into a base of K - 1 boxes and one more. A row belongs to a base and one of its sides, the
neighbour of one of its boxes, on which the keeper is; it has a bit for each square of the further box. A
pull of a box of the base, and the keeper's walks between sides of the base, are operations on whole rows.
A set has K bases: what one learns is passed on to the others bit by bit. Each state is met only if it is
alive, so sets with a dead subset cost nothing.
"""

from __future__ import annotations

import time

import numpy as np

from players.puzzles.sokoban.deadsets.partitions import WalkRoom, fill_blocks, walk_room
from players.puzzles.sokoban.deadsets.squares import BoxSquares, exchange, rank, unrank
from propnet.jit.arrays import Index, Int32s, Ints, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, lowest_bit, put

_DONE, _MORE, _NO_ROOM = range(3)
_ALIVE, _PULLED, _SHARED = range(3)
_BATCH = 20_000
"""Bases between two looks at the clock."""


def bytes_needed(squares: BoxSquares, size: int) -> int:
    """About how much memory :func:`alive_sets` takes at most, in bytes, for sets of ``size`` boxes."""
    bases = int(squares.choose[-1, size - 1])
    return bases * (4 * 4 * (size - 1) * squares.words * 8 + 20 + 8 * (8 * squares.words + 4))


def alive_sets(squares: BoxSquares, size: int, deadline: float = np.inf) -> Words | None:
    """Which sets of ``size`` boxes can be solved; None when the clock stops it.

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
    room = walk_room(squares)
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
    """Have a base wait in the ring ``queue``, once. ``state``: int64, shape (3,): its head and tail, and how
    many blocks are filled."""
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
    """Prepare to name the bases in which ``base[j]`` gives way to a further box c. ``leads``: int64, shape
    (8, 8): entry [j, p] is the part of the base's number that does not depend on c when p others lie below c;
    entry [4 + j, p] is where ``base[keep]`` is in it then."""
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
    room: WalkRoom,
    most: Index,
) -> int:
    """Work through at most ``most`` of the bases that wait. ``rows``: uint64, shape (rows, 3, words): the
    sets that are alive, those of them whose pulls were made, and those that all other bases of the set know
    of. ``block_ends``, ``masks`` and ``sets`` hold the blocks of each base (:mod:`.partitions`), found when
    it is first met."""
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
            end = fill_blocks(squares, base, count, masks, sets, state[2], room)
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

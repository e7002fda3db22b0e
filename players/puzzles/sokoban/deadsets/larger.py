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
from propnet.jit.vector512 import lowest_bit

_DONE, _MORE, _NO_ROOM = range(3)
_BATCH = 20_000
"""Bases between two looks at the clock."""


def bytes_needed(squares: BoxSquares, size: int) -> int:
    """About how much memory :func:`alive_sets` takes at most, in bytes, for sets of ``size`` boxes."""
    bases = int(squares.choose[-1, size - 1])
    return bases * (2 * 4 * (size - 1) * squares.words * 8 + 20 + 8 * (8 * squares.words + 4))


def alive_sets(squares: BoxSquares, size: int, deadline: float = np.inf) -> Words | None:
    """Which sets of ``size`` boxes can be solved; None when the clock stops it.

    Returns uint64, shape (4 (size - 1) bases, words): row 4 (size - 1) T + 4 i + d is for the base of number
    T and the keeper on the neighbour in direction d of its box i; its bit c is for one more box on c.

    Args:
        deadline: of this thread's CPU time (``time.thread_time``), in seconds.
    """
    n, count = len(squares.squares), size - 1
    bases = int(squares.choose[-1, count])
    rows = np.zeros((4 * count * bases, squares.words), np.uint64)
    if n < size or len(squares.goals) < size:
        return rows
    done = np.zeros_like(rows)
    queue = np.zeros(bases + 1, np.int32)
    waiting = np.zeros(bases, np.uint8)
    block_ends = np.zeros((bases, 2), np.int32)
    masks = np.zeros(8 * bases + 64, np.int32)
    sets = np.zeros((len(masks), squares.words), np.uint64)
    state = np.zeros(3, np.int64)
    members = np.zeros((3, 8), np.int64)
    room = walk_room(squares)
    _seed(squares, count, rows, queue, waiting, state, members)
    while True:
        end = _spread(
            squares, count, rows, done, queue, waiting, block_ends, masks, sets, state, members, room, _BATCH
        )
        if end == _DONE:
            return rows
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
                    rows[4 * count * at + side, goal >> 6] |= np.uint64(1) << np.uint64(goal & 63)
            for i in range(count):
                rows[4 * count * at + side, base[i] >> 6] &= ~(np.uint64(1) << np.uint64(base[i] & 63))
        _wait(queue, waiting, state, at)


@kernel(**ARENA)
def _spread(
    squares: BoxSquares,
    count: Index,
    rows: Words,
    done: Words,
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
    """Work through at most ``most`` of the bases that wait. ``done`` holds the bits of each row that were
    passed on; ``block_ends``, ``masks`` and ``sets`` the blocks of each base (:mod:`.partitions`), found when
    it is first met."""
    choose, neighbours, numbers = squares.choose, squares.neighbours, squares.numbers
    outside = len(neighbours) - 1
    sides = 4 * count
    words = rows.shape[1]
    base, other = members[0], members[1]
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
            mask = masks[block]
            for w in range(words):
                bits = np.uint64(0)
                for side in range(sides):
                    if mask >> side & 1:
                        bits |= rows[sides * at + side, w]
                bits &= sets[block, w]
                if bits:
                    for side in range(sides):
                        if mask >> side & 1:
                            rows[sides * at + side, w] |= bits
        for side in range(sides):
            row = sides * at + side
            i, direction = side >> 2, side & 3
            fresh = False
            for w in range(words):
                if rows[row, w] != done[row, w]:
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
                    bits = rows[row, w] & ~done[row, w]
                    if blocked >= 0 and blocked >> 6 == w:
                        bits &= ~(np.uint64(1) << np.uint64(blocked & 63))
                    changed |= bits & ~rows[into, w]
                    rows[into, w] |= bits
                if changed:
                    _wait(queue, waiting, state, target)
            for w in range(words):
                left = rows[row, w] & ~done[row, w]
                done[row, w] = rows[row, w]
                while left:
                    further = 64 * w + lowest_bit(left)
                    left &= left - np.uint64(1)
                    for j in range(count):
                        if j == i:
                            continue
                        exchange(base, count, j, further, other)
                        target = rank(choose, other, count)
                        place = np.int64(0)
                        while other[place] != base[i]:
                            place += 1
                        into = sides * target + 4 * place + direction
                        bit = np.uint64(1) << np.uint64(base[j] & 63)
                        if not rows[into, base[j] >> 6] & bit:
                            rows[into, base[j] >> 6] |= bit
                            _wait(queue, waiting, state, target)
    return _MORE

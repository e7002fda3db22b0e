"""How one more box divides the keeper's ground, for all its squares at once, by articulation points (Hopcroft
and Tarjan 1973).

Around a set of m boxes there are 4 m sides: side 4 i + d is the neighbour of box i in direction d. Wherever
one more box c stands, some of these sides stay connected. A block is a set of sides together with all c for
which just they are connected (and some of them lie apart from the others). One walk in depth finds all
blocks: only where c is an articulation point, or a side itself, does it differ from no box at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.deadsets.squares import BoxSquares
from propnet.jit.arrays import Index, Int32s, Ints, Words
from propnet.jit.decorators import inner


class WalkRoom(NamedTuple):
    """Scratch arrays of a walk in depth, int32, shape (size + 1,) each.

    Attributes:
        met, left: when a square was met, and the time when it was left; 0 is never.
        low: the earliest square that its subtree touches.
        parent, turn, stack: of the walk.
        order: the square met at each time.
        cuts: 1 where the square separates others.
        row: shape (1,): how many blocks are filled.
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


def walk_room(squares: BoxSquares) -> WalkRoom:
    """New scratch arrays."""
    size = len(squares.numbers)
    met, left, low, parent, turn, stack, order, cuts = np.zeros((8, size + 1), np.int32)
    return WalkRoom(met, left, low, parent, turn, stack, order, cuts, np.zeros(1, np.int64))


@inner
def _walk_in_depth(neighbours: Int32s, start: Index, clock: Index, room: WalkRoom) -> Index:
    """Meet all squares connected to ``start`` but those met before. Returns the time of the last one."""
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
    """Add a square to the block of these sides; 0 if there is no more room for blocks. Returns 1
    otherwise."""
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
def fill_blocks(
    squares: BoxSquares, members: Ints, count: Index, masks: Int32s, sets: Words, first: Index, room: WalkRoom
) -> Index:
    """Find the blocks of the boxes ``members[:count]``.

    ``masks``: int32, shape (blocks,), takes the sides of each block from ``first`` on, and ``sets``: uint64,
    shape (blocks, words), the squares of the further box. Returns the end of those filled, or -1 if there is
    not room for them.
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
        whole = room.row[0] - 1  # no block has these sides yet: other walks met others
        for w in range(sets.shape[1]):
            sets[whole, w] = ~np.uint64(0)
        for time in range(begin, clock + 1):
            square = room.order[time]
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
                if time < met[there] <= room.left[square]:
                    for direction in range(4):
                        child = neighbours[square, direction]
                        if (
                            child != outside
                            and room.parent[child] == square
                            and time < met[child] <= met[there] <= room.left[child]
                        ):
                            if room.low[child] < time:
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

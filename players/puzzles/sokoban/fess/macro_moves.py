"""Macro moves: one box moves to any place that pushes of this box alone can reach (Shoham and Schaeffer
2020).

While one box moves, the others are walls. The blocks (biconnected components, Hopcroft and Tarjan 1973) of
the free squares show whether the keeper can get from one side of it to another: two neighbours of a square
are connected without it exactly if the edges to them lie in one block. So one depth-first walk is enough for
all squares that the box reaches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, next_stamp
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Octets
from propnet.jit.decorators import inner


class Maneuvers(NamedTuple):
    """Scratch space to find macro moves.

    A *stance* is four times a box's square plus the direction in which the keeper stands beside it.

    Attributes:
        met, low: int64, shape (size + 1,): the time when a square was reached, and the earliest time that its
            subtree touches.
        last: int64, shape (size + 1,): the time when the last square of its subtree was reached.
        order: int32, shape (size + 1,): the squares in the order in which they were reached.
        came, turn: int32, shape (size + 1,): the direction from which a square was reached; the next
            direction to try.
        stack: int32, shape (size + 1,).
        edges: int32, shape (4 * (size + 1),): edges without a block yet, four times square plus direction.
        block: int32, shape (4 * (size + 1),): the block of each edge.
        seen: int64, shape (4 * (size + 1),): stances with the last stamp were reached.
        stances: int32, shape (4 * (size + 1),): the stances reached, one for each side of a box on which the
            keeper can be; the first is the present place of the box.
        clock: int64, shape (2,): the last value of ``met``, and of ``seen``.
    """

    met: Ints
    low: Ints
    last: Ints
    order: Int32s
    came: Int32s
    turn: Int32s
    stack: Int32s
    edges: Int32s
    block: Int32s
    seen: Ints
    stances: Int32s
    clock: Ints


def new_maneuvers(geometry: Geometry) -> Maneuvers:
    """Return scratch space for a level of this geometry."""
    rows = geometry.size + 1
    return Maneuvers(
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(rows, np.int32),
        np.zeros(4 * rows, np.int32),
        np.zeros(4 * rows, np.int32),
        np.zeros(4 * rows, np.int64),
        np.zeros(4 * rows, np.int32),
        np.zeros(2, np.int64),
    )


@inner
def find_blocks(board: Board, room: Maneuvers, root: Index) -> None:
    """Assign a block to every edge between free squares connected to ``root``."""
    neighbours, occupied = board.neighbours, board.occupied
    met, low, came, turn, stack, edges = room.met, room.low, room.came, room.turn, room.stack, room.edges
    base = room.clock[0]
    clock = base + 1
    met[root] = low[root] = clock
    came[root], turn[root], stack[0] = -1, 0, root
    room.order[0] = root
    depth, top, number = 1, 0, 0
    while depth:
        square = stack[depth - 1]
        direction = turn[square]
        if direction == 4:
            depth -= 1
            room.last[square] = clock
            if depth:
                parent = stack[depth - 1]
                low[parent] = min(low[parent], low[square])
                if low[square] >= met[parent]:
                    number += 1
                    last = 4 * parent + came[square]
                    edge = -1
                    while edge != last:
                        top -= 1
                        edge = edges[top]
                        room.block[edge] = number
                        room.block[4 * neighbours[edge >> 2, edge & 3] + (edge & 3 ^ 2)] = number
            continue
        turn[square] = direction + 1
        there = neighbours[square, direction]
        if occupied[there] != FREE or (came[square] == direction ^ 2 and square != root):
            continue
        if met[there] <= base:
            clock += 1
            met[there] = low[there] = clock
            room.order[clock - base - 1] = there
            came[there], turn[there], stack[depth] = direction, 0, there
            depth += 1
            edges[top] = 4 * square + direction
            top += 1
        elif met[there] < met[square]:
            low[square] = min(low[square], met[there])
            edges[top] = 4 * square + direction
            top += 1
    room.clock[0] = clock


@inner
def meet(board: Board, room: Maneuvers, stance: Index, count: Index) -> Index:
    """Append a stance, unless a stance that the keeper can walk to from it was reached before. Returns the
    new count."""
    stamp = room.clock[1]
    if room.seen[stance] == stamp:
        return count
    square = stance >> 2
    for side in range(4):
        other = 4 * square + side
        if board.occupied[board.neighbours[square, side]] == FREE and room.block[other] == room.block[stance]:
            room.seen[other] = stamp
    room.stances[count] = stance
    return count + 1


@inner
def _lift(board: Board, room: Maneuvers, box: Index) -> Index:
    """Take the box off the board and record its first stance. Returns 1. If the keeper of the last walk does
    not reach the box, it stays, and the result is 0."""
    start: Index = -1
    for side in range(4):
        if board.reached[board.neighbours[box, side]] == board.stamp[0]:
            start = 4 * box + side
    if start < 0:
        return 0
    board.occupied[box] = FREE
    find_blocks(board, room, box)
    room.clock[1] += 1
    return meet(board, room, start, 0)


@inner
def _has_push(board: Board, dead: Octets, box: Index, first: Index) -> bool:
    """Return whether the keeper of the last walk can push the box in one of these directions to a square that
    is not dead."""
    for direction in range(4):
        ahead = board.neighbours[box, direction]
        if (
            first >> direction & 1
            and can_push(board, box, np.int64(direction))
            and not dead[ahead] >> (direction ^ 2) & 1
        ):
            return True
    return False


@inner
def macro_pushes(board: Board, room: Maneuvers, dead: Octets, box: Index, first: Index) -> Index:
    """Find the places to which pushes can bring this box while all others stand still.

    Needs the keeper's walk, and the sides that are dead (uint8, a bit for each). ``first`` has a bit for each
    allowed direction of the first push. Returns the number of stances in ``room.stances``, including the
    first; 0 if the keeper can push the box nowhere.
    """
    neighbours, occupied = board.neighbours, board.occupied
    if not _has_push(board, dead, box, first):
        return 0
    count = _lift(board, room, box)
    head = 0
    while head < count:
        stance = room.stances[head]
        head += 1
        square = stance >> 2
        for direction in range(4):
            back = 4 * square + (direction ^ 2)
            if head == 1 and not first >> direction & 1:
                continue
            if occupied[neighbours[square, direction ^ 2]] != FREE or room.block[back] != room.block[stance]:
                continue
            ahead = neighbours[square, direction]
            if occupied[ahead] == FREE and not dead[ahead] >> (direction ^ 2) & 1:
                count = meet(board, room, 4 * ahead + (direction ^ 2), count)
    occupied[box] = BOXED
    return count


@inner
def parts_around(board: Board, room: Maneuvers, square: Index) -> Index:
    """Return the number of regions beside a square that the box reached in the last moves found, with the box
    there. It must be off the board."""
    parts = 0
    for side in range(4):
        if board.occupied[board.neighbours[square, side]] != FREE:
            continue
        new = 1
        for before in range(side):
            if board.occupied[board.neighbours[square, before]] == FREE:
                new &= room.block[4 * square + before] != room.block[4 * square + side]
        parts += new
    return parts


@inner
def walk_all(board: Board, room: Maneuvers, box: Index) -> Index:
    """Mark what the keeper reaches without the box whose moves were found last, which came from ``box``.
    Returns the lowest of these squares. The result is that of :func:`walk`, without its queue."""
    stamp = next_stamp(board.reached, board.stamp)
    lowest = np.int64(box)
    for number in range(room.last[box] - room.met[box] + 1):
        square = np.int64(room.order[number])
        board.reached[square] = stamp
        lowest = min(lowest, square)
    return lowest


@inner
def _is_cut_off(board: Board, room: Maneuvers, square: Index, side: Index) -> bool:
    """Return whether a box on ``square`` cuts the neighbour on this side, and what was reached from there
    first, off from the rest."""
    there = board.neighbours[square, side]
    return bool(
        room.met[there] > room.met[square]
        and room.came[there] == side
        and room.low[there] >= room.met[square]
    )


@inner
def walk_around(board: Board, room: Maneuvers, box: Index, square: Index, side: Index) -> Index:
    """Do the same with that box on ``square`` and the keeper on this side of it."""
    neighbours, met, last = board.neighbours, room.met, room.last
    stamp = next_stamp(board.reached, board.stamp)
    keeper = neighbours[square, side]
    first, end, apart = met[box], last[box] + 1, False
    for way in range(4):
        there = neighbours[square, way]
        if _is_cut_off(board, room, square, way) and met[there] <= met[keeper] <= last[there]:
            first, end, apart = met[there], last[there] + 1, True
    lowest = np.int64(len(board.occupied))
    time = first
    while time < end:
        here = np.int64(room.order[time - met[box]])
        time += 1
        if not apart:
            if here == square:
                continue
            if neighbours[here, room.came[here] ^ 2] == square and room.low[here] >= met[square]:
                time = last[here] + 1
                continue
        board.reached[here] = stamp
        lowest = min(lowest, here)
    return lowest


@inner
def macro_pulls(board: Board, room: Maneuvers, box: Index) -> Index:
    """Find the places to which pulls can bring this box while all others stand still; see
    :func:`macro_pushes`."""
    neighbours, occupied = board.neighbours, board.occupied
    count = _lift(board, room, box)
    if count == 0:
        return 0
    head = 0
    while head < count:
        stance = room.stances[head]
        head += 1
        square = stance >> 2
        for side in range(4):
            there = neighbours[square, side]
            if occupied[there] != FREE or room.block[4 * square + side] != room.block[stance]:
                continue
            if occupied[neighbours[there, side]] == FREE:
                count = meet(board, room, 4 * there + side, count)
    occupied[box] = BOXED
    return count

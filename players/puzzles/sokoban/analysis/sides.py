"""Which sides of a box are connected for the keeper, by articulation points (Hopcroft and Tarjan 1973).

A box on a square cuts off those parts of the map that hang together only through the square.
"""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Flags, Int32s, Octets
from propnet.jit.decorators import ARENA, kernel

NO_SIDE = 4


def side_classes(geometry: Geometry) -> Octets:
    """Which sides of a lone box are one for the keeper.

    Returns uint8, shape (size + 1, 4): for each square and direction the lowest direction whose neighbour the
    keeper can walk to from this one's, the box being a wall; NO_SIDE where the neighbour is outside.
    """
    rows = geometry.size + 1
    sides = np.full((rows, 4), NO_SIDE, np.uint8)
    _sides(np.ascontiguousarray(geometry.neighbours, np.int32), sides, np.zeros((7, max(rows, 4)), np.int32))
    return sides


def articulation_points(geometry: Geometry) -> Flags:
    """The squares that a box cuts the map in two on, bool, shape (size + 1,)."""
    sides = side_classes(geometry)
    lowest = sides.min(axis=1, keepdims=True)
    flags: Flags = ((sides != lowest) & (sides != NO_SIDE)).any(axis=1)
    return flags


@kernel(**ARENA)
def _sides(neighbours: Int32s, sides: Octets, room: Int32s) -> None:
    """Fill ``sides`` by one walk in depth from square 0, which meets all squares. ``room``: int32, zeros,
    shape (7, size + 1): when a square is met, when it is left, the earliest square that its subtree touches,
    its parent, the next direction to look in, the stack, and the part of each
    neighbour."""
    met, left, low, parent, turn, stack = room[0], room[1], room[2], room[3], room[4], room[5]
    parts = room[6]
    size = len(neighbours) - 1
    if size == 0:
        return
    clock, depth = 1, 1
    met[0] = low[0] = clock
    parent[0] = -1
    while depth:
        square = stack[depth - 1]
        if turn[square] == 4:
            left[square] = clock
            depth -= 1
            if depth:
                low[parent[square]] = min(low[parent[square]], low[square])
            continue
        there = neighbours[square, turn[square]]
        turn[square] += 1
        if there == size:
            continue
        if met[there]:
            low[square] = min(low[square], met[there])
            continue
        clock += 1
        met[there] = low[there] = clock
        parent[there] = square
        stack[depth] = there
        depth += 1
    for square in range(size):
        for direction in range(4):
            there = neighbours[square, direction]
            if there == size:
                continue
            part = 0  # the part that the parent is in
            for way in range(4):
                child = neighbours[square, way]
                if (
                    child != size
                    and parent[child] == square
                    and met[child] <= met[there] <= left[child]
                    and (low[child] >= met[square])
                ):
                    part = child + 1
            parts[direction] = part
            sides[square, direction] = direction
            for way in range(direction):
                if sides[square, way] != 4 and parts[way] == part:
                    sides[square, direction] = sides[square, way]
                    break

"""Which sides of a box are connected for the keeper, by articulation points (Hopcroft and Tarjan 1973).

A box on a square cuts off those parts of the map that hang together only through the square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Flags, Index, Int32s, Octets
from propnet.jit.decorators import ARENA, inner, kernel

NO_SIDE = 4


class Sides(NamedTuple):
    """The sides of every square, and how to tell which one a keeper is on.

    Attributes:
        classes: uint8, shape (size + 1, 4): for each square and direction the lowest direction whose
            neighbour the keeper can walk to from this one's, a lone box on the square being a wall; NO_SIDE
            where the neighbour is outside.
        rest: uint8, shape (size + 1,): the class of keepers that are in none of the intervals.
        first, last: int32, shape (size + 1, 4): from which to which number the squares of this side are met
            by a walk in depth; 1 to 0 where they are the rest.
        met: int32, shape (size + 1,): the number of each square in that walk.
    """

    classes: Octets
    rest: Octets
    first: Int32s
    last: Int32s
    met: Int32s


def find_sides(geometry: Geometry) -> Sides:
    """The sides of all squares of a level."""
    rows = geometry.size + 1
    sides = Sides(
        np.full((rows, 4), NO_SIDE, np.uint8),
        np.full(rows, NO_SIDE, np.uint8),
        np.ones((rows, 4), np.int32),
        np.zeros((rows, 4), np.int32),
        np.zeros(rows, np.int32),
    )
    if geometry.size:
        _find_sides(np.ascontiguousarray(geometry.neighbours, np.int32), sides, np.zeros((5, rows), np.int32))
    return sides


def side_classes(geometry: Geometry) -> Octets:
    """``classes`` of :class:`Sides`: uint8, shape (size + 1, 4)."""
    return find_sides(geometry).classes


def articulation_points(geometry: Geometry) -> Flags:
    """The squares that a box cuts the map in two on, bool, shape (size + 1,)."""
    classes = side_classes(geometry)
    lowest = classes.min(axis=1, keepdims=True)
    flags: Flags = ((classes != lowest) & (classes != NO_SIDE)).any(axis=1)
    return flags


@inner
def side_of(sides: Sides, box: Index, keeper: Index) -> Index:
    """The class of the side of a box that the keeper is on, if there were no other boxes."""
    met = sides.met[keeper]
    for direction in range(4):
        if sides.first[box, direction] <= met <= sides.last[box, direction]:
            return np.int64(sides.classes[box, direction])
    return np.int64(sides.rest[box])


@kernel(**ARENA)
def _find_sides(neighbours: Int32s, sides: Sides, room: Int32s) -> None:
    """Fill ``sides`` by one walk in depth from square 0, which meets all squares. ``room``: int32, zeros,
    shape (5, size + 1): the last square met below each, the earliest that its subtree touches, its parent,
    the next direction to look in, the stack."""
    left, low, parent, turn, stack = room[0], room[1], room[2], room[3], room[4]
    met, classes, first, last = sides.met, sides.classes, sides.first, sides.last
    size = len(neighbours) - 1
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
            for way in range(4):
                child = neighbours[square, way]
                is_cut_off = child != size and parent[child] == square and low[child] >= met[square]
                if is_cut_off and met[child] <= met[there] <= left[child]:
                    first[square, direction] = met[child]
                    last[square, direction] = left[child]
            classes[square, direction] = direction
            for way in range(direction):
                if classes[square, way] != NO_SIDE and first[square, way] == first[square, direction]:
                    classes[square, direction] = classes[square, way]
                    break
            if last[square, direction] == 0:
                sides.rest[square] = classes[square, direction]

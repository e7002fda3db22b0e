"""Exact push distances of a lone box to each goal, by the keeper's side, computed by pulls from the goal
(Junghanns and Schaeffer 2001), and the dead squares that follow from them.

A box on a square separates the parts of the map that are connected only through the square. Articulation
points (Hopcroft and Tarjan 1973) show which of its sides stay connected for the keeper.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, _ = from_level(Level(("#######", "#@ $ .#", "#######")))
>>> goal_distances(geometry)[0, :-1].tolist() == [FAR, 3, 2, 1, 0]
True
>>> dead_squares(geometry).tolist()
[1, 0, 0, 0, 0, 1]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index, Int32s, Octets
from propnet.jit.decorators import ARENA, inner, kernel

NO_SIDE = 4


class Sides(NamedTuple):
    """The sides of every square, and the data to find the side of a keeper.

    Attributes:
        classes: uint8, shape (size + 1, 4): for each square and direction the lowest direction whose
            neighbour the keeper can walk to from this one's, a lone box on the square being a wall; NO_SIDE
            if the neighbour is outside.
        rest: uint8, shape (size + 1,): the class of a keeper outside all intervals.
        first, last: int32, shape (size + 1, 4): the interval of numbers that a depth-first walk gives the
            squares of this side; 1 to 0 if they are the rest.
        met: int32, shape (size + 1,): the number of each square in the walk.
    """

    classes: Octets
    rest: Octets
    first: Int32s
    last: Int32s
    met: Int32s


def find_sides(geometry: Geometry) -> Sides:
    """Return the sides of all squares of a level."""
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
    """Return ``classes`` of :class:`Sides`: uint8, shape (size + 1, 4)."""
    return find_sides(geometry).classes


@inner
def side_of(sides: Sides, box: Index, keeper: Index) -> Index:
    """Return the class of the side of a box on which the keeper is, if there were no other boxes."""
    met = sides.met[keeper]
    for direction in range(4):
        if sides.first[box, direction] <= met <= sides.last[box, direction]:
            return np.int64(sides.classes[box, direction])
    return np.int64(sides.rest[box])


@kernel(**ARENA)
def _find_sides(neighbours: Int32s, sides: Sides, room: Int32s) -> None:
    """Fill ``sides`` by one depth-first walk from square 0, which reaches all squares. ``room``: int32,
    zeros, shape (5, size + 1): the last square reached below each, the earliest that its subtree touches, its
    parent, the next direction to try, the stack."""
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


FAR = 1 << 24
"""The distance if there is no way; larger than any real distance."""


def push_distances(geometry: Geometry) -> Int32s:
    """Return the pushes that a lone box needs to each goal, by the keeper's side.

    Returns int32, shape (goals, size + 1, 4): entry [g, s, d] is for a box on square s and the keeper on its
    neighbour in direction d; FAR if there is no way, or the neighbour is outside.
    """
    return _from_squares(geometry, geometry.goals, pulling=True)


def start_distances(geometry: Geometry, start: Position) -> Int32s:
    """Return the pushes that bring each box, alone on the map, to each square.

    int32, shape (boxes, size + 1); FAR if there is no way.
    """
    boxes = np.array(start.boxes, np.int32)
    least: Int32s = _from_squares(geometry, boxes, pulling=False).min(axis=2)
    least[np.arange(len(boxes)), boxes] = 0
    return least


def _from_squares(geometry: Geometry, squares: Int32s, pulling: bool) -> Int32s:
    rows = geometry.size + 1
    distances = np.full((len(squares), rows, 4), FAR, np.int32)
    neighbours = np.ascontiguousarray(geometry.neighbours, np.int32)
    begins = np.ascontiguousarray(squares, np.int32)
    _spread(neighbours, side_classes(geometry), begins, pulling, distances, np.zeros(4 * rows, np.int32))
    return distances


def goal_distances(geometry: Geometry) -> Int32s:
    """Return the pushes that a lone box needs to each goal when the keeper is on its best side.

    int32, shape (goals, size + 1); FAR if there is no way.
    """
    distances: Int32s = push_distances(geometry).min(axis=2)
    # A box on a goal has distance 0, even if no keeper can stand next to it.
    distances[np.arange(len(geometry.goals)), geometry.goals] = 0
    return distances


def dead_sides(geometry: Geometry) -> Octets:
    """Return the sides of a box on which the keeper must not be.

    Returns uint8, shape (size + 1,): bit d is set if a box can never reach any goal when the keeper is on its
    neighbour in direction d. It is 15 on dead squares and outside.
    """
    goals = push_distances(geometry)
    dead = (goals == FAR).all(axis=0) if len(goals) else np.ones(goals.shape[1:], np.bool_)
    bits: Octets = (dead << np.arange(4)).sum(axis=1).astype(np.uint8)
    return bits


def dead_squares(geometry: Geometry) -> Octets:
    """Return the squares from which a box can never reach any goal.

    uint8, shape (size + 1,): 1 on dead squares and outside.
    """
    dead: Octets = (goal_distances(geometry) == FAR).all(axis=0).astype(np.uint8)
    return dead


@kernel(**ARENA)
def _spread(
    neighbours: Int32s, sides: Octets, begins: Int32s, pulling: bool, distances: Int32s, queue: Int32s
) -> None:
    """Search breadth-first by pulls or pushes from each of some squares, with the keeper on any side of it.
    ``queue``: int32, shape (4 * (size + 1),), holds four times the square plus the class of sides."""
    for number in range(len(begins)):
        found, begin = distances[number], begins[number]
        head, tail = 0, 0
        for side in range(4):
            if sides[begin, side] != NO_SIDE:
                found[begin, side] = 0
                if sides[begin, side] == side:
                    queue[tail] = 4 * begin + side
                    tail += 1
        while head < tail:
            square, part = queue[head] >> 2, queue[head] & 3
            head += 1
            for way in range(4):  # the keeper stands on this side, and pulls the box there or pushes it away
                if sides[square, way] != part:
                    continue
                there = neighbours[square, way if pulling else way ^ 2]
                behind = sides[there, way]
                if behind == NO_SIDE or found[there, behind] != FAR:
                    continue
                for side in range(4):
                    if sides[there, side] == behind:
                        found[there, side] = found[square, part] + 1
                queue[tail] = 4 * there + behind
                tail += 1

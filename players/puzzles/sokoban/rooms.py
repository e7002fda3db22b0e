"""Tunnels, and the rooms between them (after Junghanns and Schaeffer 2001).

A box that was pushed to a square with a wall beside it can only go on or back. If the square is the only link
between both ends, the keeper cannot get in front of the box, and nothing behind it changes the part in front.
So if the box may not stay, the next push is as good now as later. Nothing more is sound: a box in a tunnel
with a way around may have to wait there (Microban I #10), and so may a box on a goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.distances import NO_SIDE, dead_sides, side_classes
from players.puzzles.sokoban.geometry import Geometry
from players.puzzles.sokoban.lines import reachable
from propnet.jit.arrays import Flags, Octets


def forced_pushes(geometry: Geometry) -> Octets:
    """Return the squares and directions in which a push may continue at once.

    Returns uint8, shape (size + 1,): bit d is set if a box just pushed to the square in direction d loses
    nothing by a further push in the same direction, once the square in front is free. From any solvable
    position that push leads to a position that can be solved with as many pushes.
    """
    size, neighbours = geometry.size, geometry.neighbours
    sides, dead = side_classes(geometry), dead_sides(geometry)
    forced = np.zeros(size + 1, np.uint8)
    goals = set(geometry.goals.tolist())
    for square in range(size):
        if square in goals:
            continue
        for way in range(4):
            ahead, behind = sides[square, way], sides[square, way ^ 2]
            if NO_SIDE in (ahead, behind) or ahead == behind:
                continue
            one, two = way ^ 1, way ^ 3  # the two directions across
            left, right = neighbours[square, one], neighbours[square, two]
            walled = size in (left, right)
            if walled or (dead[left] >> two & 1 and dead[right] >> one & 1):
                forced[square] |= 1 << way
    return forced


def _tunnel_squares(geometry: Geometry) -> Flags:
    """Return the squares of tunnels, bool, shape (size + 1,): squares with walls on both sides and open at
    both ends, and the bends that link two such squares."""
    is_open = geometry.neighbours != geometry.size
    upright = is_open[:, 0] & is_open[:, 2] & ~is_open[:, 1] & ~is_open[:, 3]
    level = ~is_open[:, 0] & ~is_open[:, 2] & is_open[:, 1] & is_open[:, 3]
    flags: Flags = upright | level
    bends = (is_open.sum(axis=1) == 2) & ~flags
    linked = flags[geometry.neighbours].sum(axis=1) == 2
    flags |= bends & linked
    return flags


def tunnels(geometry: Geometry) -> list[tuple[int, ...]]:
    """Return every tunnel as its squares, from one end to the other."""
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    inside = set(np.flatnonzero(_tunnel_squares(geometry)).tolist())
    found = []
    waiting = sorted(inside, key=lambda square: sum(there in inside for there in neighbours[square]))
    seen: set[int] = set()
    for square in waiting:  # ends first; a tunnel without ends is a ring
        way = []
        while square not in seen:
            seen.add(square)
            way.append(square)
            square = next((there for there in neighbours[square] if there in inside - seen), square)
        if way:
            found.append(tuple(way))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Room:
    """A part of a level that only tunnels lead to.

    Attributes:
        squares: ascending.
        goals: its squares that are goals.
        entrances: the neighbouring squares of tunnels.
    """

    squares: tuple[int, ...]
    goals: tuple[int, ...]
    entrances: tuple[int, ...]


def rooms(geometry: Geometry) -> list[Room]:
    """Return all rooms of a level, ordered by their lowest squares."""
    shut = {geometry.size, *np.flatnonzero(_tunnel_squares(geometry)).tolist()}
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    goals = set(geometry.goals.tolist())
    found: list[Room] = []
    seen = set(shut)
    for first in range(geometry.size):
        if first in seen:
            continue
        squares = reachable(neighbours, shut, first)
        seen |= squares
        entrances = {there for square in squares for there in neighbours[square]} - {geometry.size} - squares
        found.append(Room(tuple(sorted(squares)), tuple(sorted(goals & squares)), tuple(sorted(entrances))))
    return found

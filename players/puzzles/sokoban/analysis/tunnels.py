"""Tunnels, and the pushes in them that may be made at once (after Junghanns and Schaeffer 2001).

A box that was pushed to a square with a wall beside it can only go on or back. Where the square is the only
link between both ends, the keeper cannot get in front of the box, and nothing behind it changes what lies in
front. So if it may not stay, the next push is as good now as later. That is all that is sound: a box in a
tunnel with a way around may have to wait there (Microban I #10), and so may one on a goal.
"""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.analysis.distances import dead_sides
from players.puzzles.sokoban.analysis.sides import NO_SIDE, side_classes
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Flags, Octets


def forced_pushes(geometry: Geometry) -> Octets:
    """Where a push may go on at once.

    Returns uint8, shape (size + 1,): bit d is set if a box that was just pushed to the square in direction d
    loses nothing when it is pushed on in the same direction, as soon as the square in front is free: from any
    position that can be solved that push leads to one that can be solved with as many pushes.
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


def tunnel_squares(geometry: Geometry) -> Flags:
    """The squares of tunnels, bool, shape (size + 1,): walls on both sides, open at both ends; and the bends
    that link two such squares."""
    is_open = geometry.neighbours != geometry.size
    upright = is_open[:, 0] & is_open[:, 2] & ~is_open[:, 1] & ~is_open[:, 3]
    level = ~is_open[:, 0] & ~is_open[:, 2] & is_open[:, 1] & is_open[:, 3]
    flags: Flags = upright | level
    bends = (is_open.sum(axis=1) == 2) & ~flags
    linked = flags[geometry.neighbours].sum(axis=1) == 2
    flags |= bends & linked
    return flags


def tunnels(geometry: Geometry) -> list[tuple[int, ...]]:
    """Every tunnel as its squares, from one end to the other."""
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    inside = set(np.flatnonzero(tunnel_squares(geometry)).tolist())
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

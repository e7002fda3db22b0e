"""Push distances of a lone box to each goal, exact, by the keeper's side, by pulls from the goal (Junghanns
and Schaeffer 2001), and the dead squares that follow.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, _ = from_level(Level(("#######", "#@ $ .#", "#######")))
>>> goal_distances(geometry)[0, :-1].tolist() == [FAR, 3, 2, 1, 0]
True
>>> dead_squares(geometry).tolist()
[1, 0, 0, 0, 0, 1]
"""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.analysis.sides import NO_SIDE, side_classes
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Int32s, Octets
from propnet.jit.decorators import ARENA, kernel

FAR = 1 << 24
"""The distance where there is no way; more than any other."""


def push_distances(geometry: Geometry) -> Int32s:
    """Pushes that a lone box needs to each goal, by where the keeper stands.

    Returns int32, shape (goals, size + 1, 4): entry [g, s, d] is for a box on square s and the keeper on its
    neighbour in direction d; FAR where there is no way, or the neighbour is outside.
    """
    rows = geometry.size + 1
    distances = np.full((len(geometry.goals), rows, 4), FAR, np.int32)
    neighbours = np.ascontiguousarray(geometry.neighbours, np.int32)
    goals = np.ascontiguousarray(geometry.goals, np.int32)
    _pull(neighbours, side_classes(geometry), goals, distances, np.zeros(4 * rows, np.int32))
    return distances


def goal_distances(geometry: Geometry) -> Int32s:
    """Pushes that a lone box needs to each goal when the keeper is on its best side.

    Returns int32, shape (goals, size + 1); FAR where there is no way.
    """
    distances: Int32s = push_distances(geometry).min(axis=2)
    # A box that stands on a goal is there, even where no keeper stands beside it.
    distances[np.arange(len(geometry.goals)), geometry.goals] = 0
    return distances


def dead_sides(geometry: Geometry) -> Octets:
    """Which sides of a box the keeper must not be on.

    Returns uint8, shape (size + 1,): bit d is set where a box can never reach any goal when the keeper is on
    its neighbour in direction d; 15 on dead squares and outside.
    """
    goals = push_distances(geometry)
    dead = (goals == FAR).all(axis=0) if len(goals) else np.ones(goals.shape[1:], np.bool_)
    bits: Octets = (dead << np.arange(4)).sum(axis=1).astype(np.uint8)
    return bits


def dead_squares(geometry: Geometry) -> Octets:
    """Where a box can never reach any goal.

    Returns uint8, shape (size + 1,): 1 on dead squares and outside.
    """
    dead: Octets = (goal_distances(geometry) == FAR).all(axis=0).astype(np.uint8)
    return dead


@kernel(**ARENA)
def _pull(neighbours: Int32s, sides: Octets, goals: Int32s, distances: Int32s, queue: Int32s) -> None:
    """Breadth first by pulls from each goal. ``queue``: int32, shape (4 * (size + 1),), holds four times the
    square plus the class of sides."""
    for number in range(len(goals)):
        found = distances[number]
        head, tail = 0, 0
        for side in range(4):
            if sides[goals[number], side] == NO_SIDE:
                continue
            found[goals[number], side] = 0
            if sides[goals[number], side] == side:
                queue[tail] = 4 * goals[number] + side
                tail += 1
        while head < tail:
            square, part = queue[head] >> 2, queue[head] & 3
            head += 1
            for back in range(4):  # the keeper stands on this side, and pulls the box there
                if sides[square, back] != part:
                    continue
                origin = neighbours[square, back]
                behind = sides[origin, back]
                if behind == NO_SIDE or found[origin, behind] != FAR:
                    continue
                for side in range(4):
                    if sides[origin, side] == behind:
                        found[origin, side] = found[square, part] + 1
                queue[tail] = 4 * origin + behind
                tail += 1

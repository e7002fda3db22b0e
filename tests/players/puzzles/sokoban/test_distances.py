"""Distances and sides against plain search over a lone box and a keeper that walks step by step."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given

from players.puzzles.sokoban.distances import (
    FAR,
    NO_SIDE,
    dead_sides,
    dead_squares,
    goal_distances,
    push_distances,
    side_classes,
)
from players.puzzles.sokoban.geometry import Geometry
from players.puzzles.sokoban.lines import reachable
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import mazes


def _region(geometry: Geometry, box: int, start: int) -> set[int]:
    return reachable(geometry.neighbours.tolist(), {geometry.size, box}, start)


def _pushes(geometry: Geometry, box: int, keeper: int, goal: int) -> int:
    """Pushes from one box and one keeper to a goal, by search forwards."""
    seen = {(box, min(_region(geometry, box, keeper)))}
    waiting = deque([(box, keeper, 0)])
    while waiting:
        box, keeper, count = waiting.popleft()
        if box == goal:
            return count
        region = _region(geometry, box, keeper)
        for direction in range(4):
            ahead = int(geometry.neighbours[box, direction])
            if int(geometry.neighbours[box, direction ^ 2]) in region and ahead != geometry.size:
                state = ahead, min(_region(geometry, ahead, box))
                if state not in seen:
                    seen.add(state)
                    waiting.append((ahead, box, count + 1))
    return FAR


@examples(60)
@given(mazes())
def test_sides_are_those_that_walks_find(geometry: Geometry) -> None:
    sides = side_classes(geometry)
    for square in range(geometry.size):
        around = geometry.neighbours[square].tolist()
        for direction, there in enumerate(around):
            if there == geometry.size:
                assert sides[square, direction] == NO_SIDE
            else:
                region = _region(geometry, square, there)
                assert sides[square, direction] == min(way for way in range(4) if around[way] in region)
    assert (sides[geometry.size] == NO_SIDE).all()


@examples(60)
@given(mazes())
def test_distances_are_those_of_search_forwards(geometry: Geometry) -> None:
    exact, nearest = push_distances(geometry), goal_distances(geometry)
    bits, dead = dead_sides(geometry), dead_squares(geometry)
    for square in range(geometry.size):
        for direction, keeper in enumerate(geometry.neighbours[square].tolist()):
            if keeper == geometry.size:
                assert (exact[:, square, direction] == FAR).all()
                continue
            wanted = [_pushes(geometry, square, keeper, goal) for goal in geometry.goals.tolist()]
            assert exact[:, square, direction].tolist() == wanted
            assert bool(bits[square] >> direction & 1) == all(way == FAR for way in wanted)
        best = np.minimum.reduce(exact[:, square], axis=1)
        best[geometry.goals == square] = 0
        assert (nearest[:, square] == best).all()
        assert bool(dead[square]) == all(way == FAR for way in best.tolist())
    assert dead[geometry.size] == 1
    assert bits[geometry.size] == 15

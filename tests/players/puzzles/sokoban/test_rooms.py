"""Tunnels, rooms, packing orders and distances: known maps, all states of small levels, and plain search."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given

from gdl.errors import GdlError
from players.puzzles.sokoban.distances import (
    FAR,
    NO_SIDE,
    dead_sides,
    dead_squares,
    goal_distances,
    push_distances,
    side_classes,
)
from players.puzzles.sokoban.fess.packing_plan import packing_order
from players.puzzles.sokoban.geometry import RIGHT, Geometry, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import reachable
from players.puzzles.sokoban.rooms import forced_pushes, rooms, tunnels
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import mazes, numbered, small_levels

TWO_ROOMS = (
    "#############",
    "#   ####....#",
    "# $        .#",
    "#@$ ####....#",
    "# $$#########",
    "#####        ",
)


def test_a_tunnel_between_two_rooms() -> None:
    geometry, _, numbers = numbered(*TWO_ROOMS)
    way = tuple(numbers[2, x] for x in (4, 5, 6, 7))
    assert tunnels(geometry) == [way]
    found = rooms(geometry)
    assert [len(room.squares) for room in found] == [12, 12]
    assert [len(room.goals) for room in found] == [0, 9]
    assert [room.entrances for room in found] == [way[:1], way[-1:]]
    forced = forced_pushes(geometry)
    assert all(forced[square] >> RIGHT & 1 for square in way)
    assert all(forced[square] == 0 for square in geometry.goals)


def test_a_tunnel_with_a_way_around_forces_nothing() -> None:
    geometry, _, numbers = numbered(
        "#########",
        "#       #",
        "# ##### #",
        "# @ $  .#",
        "# ##### #",
        "#       #",
        "#########",
    )
    assert len(tunnels(geometry)) > 0
    assert not forced_pushes(geometry)[[numbers[3, x] for x in range(1, 7)]].any()


def test_a_goal_in_a_tunnel_may_keep_its_box() -> None:
    geometry, _, numbers = numbered("##########", "#@ $ #####", "#    . ..#", "#  $$#####", "##########")
    forced = forced_pushes(geometry)
    assert forced[numbers[2, 5]] == 0
    assert forced[numbers[2, 6]] >> RIGHT & 1


def test_a_goal_room_is_packed_from_its_far_end() -> None:
    geometry, start, numbers = numbered(
        "###########",
        "# $   #####",
        "#@$    ...#",
        "# $   #####",
        "###########",
    )
    packing = packing_order(geometry, start)
    assert packing.layers == tuple((numbers[2, x],) for x in (9, 8, 7))
    assert packing.stuck == ()


@examples(60)
@given(small_levels())
def test_squares_are_in_tunnels_or_rooms_and_orders_can_be_followed(level: Level) -> None:
    try:
        geometry, start = from_level(level)
    except GdlError:
        return
    in_tunnels = [square for way in tunnels(geometry) for square in way]
    in_rooms = [square for room in rooms(geometry) for square in room.squares]
    assert sorted(in_tunnels + in_rooms) == list(range(geometry.size))
    packing = packing_order(geometry, start)
    assert sorted(sum(packing.layers, packing.stuck)) == geometry.goals.tolist()
    packed = set(packing.stuck)
    for layer in packing.layers:
        for goal in layer:
            others = packed | set(layer) - {goal}
            assert any(_can_be_pushed(geometry, box, goal, others) for box in set(start.boxes) - others)
        packed |= set(layer)


def _can_be_pushed(geometry: Geometry, box: int, goal: int, walls: set[int]) -> bool:
    """Whether some keeper can push a box to a goal, with other boxes as walls, by search forwards."""
    walls = walls | {geometry.size}
    neighbours = geometry.neighbours.tolist()
    waiting = [(box, keeper) for keeper in neighbours[box] if keeper not in walls]
    seen = set(waiting)
    while waiting:
        box, keeper = waiting.pop()
        if box == goal:
            return True
        region = reachable(neighbours, walls | {box}, keeper)
        for way in range(4):
            state = neighbours[box][way], box
            if state[0] not in walls and neighbours[box][way ^ 2] in region and state not in seen:
                seen.add(state)
                waiting.append(state)
    return box == goal


# --- Distances and sides against plain search over a lone box and a keeper that walks step by step
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

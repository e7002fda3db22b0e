"""Tunnels, rooms and packing orders: known maps, all states of small levels, and plain search."""

from __future__ import annotations

from hypothesis import given

from gdl.errors import GdlError
from players.puzzles.sokoban.fess.packing_plan import packing_order
from players.puzzles.sokoban.geometry import RIGHT, Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.rooms import forced_pushes, rooms, tunnels
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import small_levels


def _level(*rows: str) -> tuple[Geometry, Position, dict[tuple[int, int], int]]:
    geometry, position = from_level(Level(rows))
    return geometry, position, {(y, x): number for number, (y, x) in enumerate(geometry.places.tolist())}


TWO_ROOMS = (
    "#############",
    "#   ####....#",
    "# $        .#",
    "#@$ ####....#",
    "# $$#########",
    "#####        ",
)


def test_a_tunnel_between_two_rooms() -> None:
    geometry, _, numbers = _level(*TWO_ROOMS)
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
    geometry, _, numbers = _level(
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
    geometry, _, numbers = _level("##########", "#@ $ #####", "#    . ..#", "#  $$#####", "##########")
    forced = forced_pushes(geometry)
    assert forced[numbers[2, 5]] == 0
    assert forced[numbers[2, 6]] >> RIGHT & 1


def test_a_goal_room_is_packed_from_its_far_end() -> None:
    geometry, start, numbers = _level(
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
        region, growing = {keeper}, [keeper]
        while growing:
            for there in neighbours[growing.pop()]:
                if there not in walls and there != box and there not in region:
                    region.add(there)
                    growing.append(there)
        for way in range(4):
            state = neighbours[box][way], box
            if state[0] not in walls and neighbours[box][way ^ 2] in region and state not in seen:
                seen.add(state)
                waiting.append(state)
    return box == goal

"""Features against what plain Python counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from players.puzzles.sokoban.board import Board, new_board, place_boxes, walk
from players.puzzles.sokoban.fess.features import (
    HOTSPOTS,
    LINKS,
    MOBILITY,
    OUT,
    PACKED,
    REGIONS,
    FeatureRoom,
    Knowledge,
    find_features,
    new_knowledge,
    new_scratch,
    rooms_of,
)
from players.puzzles.sokoban.fess.packing_plan import packing_plan
from players.puzzles.sokoban.geometry import Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.players.puzzles.sokoban.fess.random_positions import random_position, region


@kernel
def _find(board: Board, know: Knowledge, scratch: FeatureRoom, boxes: Int32s, keeper: Index) -> None:
    walk(board, keeper)
    find_features(board, know, scratch, boxes, len(boxes))


def _features(geometry: Geometry, position: Position, loose: bool) -> tuple[Knowledge, list[int]]:
    know = new_knowledge(geometry, packing_plan(geometry, position), loose)
    board, scratch = new_board(geometry), new_scratch(geometry)
    place_boxes(board, position)
    _find(board, know, scratch, np.array(position.boxes, np.int32), np.int64(position.keeper))
    return know, scratch.values.tolist()


def _lone_goals(geometry: Geometry, square: int, wall: int) -> int:
    """Goals that a lone box on a square reaches beside a wall, wherever the keeper must be."""
    seen, waiting = {square}, [square]
    closed = {geometry.size, wall}
    while waiting:
        here = waiting.pop()
        for direction in range(4):
            there, behind = geometry.neighbours[here, [direction, direction ^ 2]].tolist()
            if there not in closed and behind not in closed and there not in seen:
                seen.add(there)
                waiting.append(there)
    return len(seen & set(geometry.goals.tolist()) - {wall})


@given(st.integers(0, 100_000), st.booleans())
@examples(40)
def test_features_are_what_they_say(seed: int, loose: bool) -> None:
    geometry, position = random_position(seed)
    know, values = _features(geometry, position, loose)
    boxes = set(position.boxes)
    left = set(range(geometry.size)) - boxes
    regions = 0
    while left:
        left -= region(geometry, boxes, min(left))
        regions += 1
    assert values[REGIONS] == regions
    around = region(geometry, boxes, position.keeper)
    sides = [side for box in boxes for side in geometry.neighbours[box].tolist()]
    assert values[MOBILITY] == sum(side in around for side in sides)
    assert values[OUT] == sum(int(know.out[box]) for box in boxes)
    assert 0 <= values[PACKED] <= len(boxes)
    for box in boxes:
        for other in boxes - {box}:
            hot = _lone_goals(geometry, box, other) < _lone_goals(geometry, box, -1)
            assert bool(know.hot[box, other]) == hot
    assert values[HOTSPOTS] <= sum(int(know.hot[box, other]) for box in boxes for other in boxes)


def test_rooms_links_and_the_order_of_packing() -> None:
    level = Level(("###########", "#   #  ...#", "#       ..#", "# $ #     #", "# @ #  $$ #", "###########"))
    geometry, start = from_level(level)
    assert sorted(set(rooms_of(geometry)[:-1].tolist())) == [-1, 0, 1]
    door = next(i for i, place in enumerate(geometry.places.tolist()) if place == [2, 4])
    for box, broken in ((door, 2), (door + 5, 0)):
        _, values = _features(geometry, Position((box,), start.keeper), False)
        assert values[LINKS] == broken
    plan = packing_plan(geometry, start)
    assert [phase.counted for phase in plan.phases] == [0]
    assert sorted(plan.phases[0].squares) == geometry.goals.tolist()
    corner = plan.phases[0].squares.index(int(geometry.goals[2]))
    assert not plan.phases[0].before[corner].any()  # the corner waits for none


def test_all_boxes_count_when_the_level_is_solved() -> None:
    level = Level(("########", "#@     #", "# *##* #", "#  * * #", "########"))
    geometry, start = from_level(level)
    for loose in (False, True):
        assert _features(geometry, start, loose)[1][PACKED] == 4

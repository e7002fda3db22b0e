"""Packing plans: parked boxes come back by pushes; how many are in the way, against plain Python."""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from players.puzzles.sokoban.distances import side_classes
from players.puzzles.sokoban.fess.packing_plan import (
    _MOST_IN_THE_WAY,
    PackingPlan,
    _Puller,
    _Way,
    packing_plan,
)
from players.puzzles.sokoban.fess.search import Fess, FessStyle
from players.puzzles.sokoban.geometry import Geometry, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.push_search import PushTask
from players.puzzles.sokoban.solution import Outcome
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import numbered, random_position, region, small_levels


def _pushes_alone(geometry: Geometry, walls: set[int], box: int, keeper: int) -> set[int]:
    """The squares to which pushes of this box alone bring it."""
    first = box, min(region(geometry, walls | {box}, keeper))
    seen, waiting = {first}, [first]
    while waiting:
        here, man = waiting.pop()
        walked = region(geometry, walls | {here}, man)
        for direction in range(4):
            ahead, behind = geometry.neighbours[here, [direction, direction ^ 2]].tolist()
            if behind in walked and ahead not in walls | {geometry.size}:
                after = ahead, min(region(geometry, walls | {ahead}, here))
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
    return {box for box, _ in seen}


def _check_parked_boxes(geometry: Geometry, plan: PackingPlan) -> int:
    """Check that pushes of one box lead from each phase to the next. Returns the number of parked boxes."""
    parked, packed = 0, 0
    for number, phase in enumerate(plan.phases):
        assert phase.counted == packed + parked
        full = {*phase.base, *phase.squares}
        packed += len(phase.squares)
        if number + 1 == len(plan.phases):
            assert full == set(geometry.goals.tolist())
            break
        after = set(plan.phases[number + 1].base)
        assert len(after) == len(full)
        if after != full:
            parked += 1
            ((old,), (new,)) = full - after, after - full
            walls = full - {old}
            keepers = set(range(geometry.size)) - full
            assert any(new in _pushes_alone(geometry, walls, old, man) for man in keepers)
    return parked


@given(small_levels(boxes=6), st.booleans())
@examples(150)
def test_pushes_of_one_box_lead_from_each_phase_to_the_next(level: Level, everywhere: bool) -> None:
    try:
        geometry, start = from_level(level)
    except GdlError:  # the keeper never reaches a box
        return
    if start.boxes and len(start.boxes) == len(geometry.goals):
        _check_parked_boxes(geometry, packing_plan(geometry, start, everywhere))


def test_a_box_is_parked_where_another_one_must_come_first() -> None:
    """The box in the corner is pushed there from the corridor, so the other one waits in the room behind."""
    rows = (
        "##########",
        "#. .     #",
        "#  ###   #",
        "## ###   #",
        "#    #   #",
        "# $  #   #",
        "#  $ #   #",
        "#    ##  #",
        "#  @     #",
        "##########",
    )
    geometry, start, at = numbered(*rows)
    for everywhere in (True, False):
        plan = packing_plan(geometry, start, everywhere)
        assert _check_parked_boxes(geometry, plan) == 1
        assert [phase.counted for phase in plan.phases] == [0, 3]
        assert at[1, 1] in plan.phases[0].squares and at[1, 3] not in plan.phases[0].squares
        assert all(phase.planned for phase in plan.phases)
    search = Fess(PushTask(geometry, start, 1 << 24), [FessStyle(layered=True)])
    search.step(time.monotonic())
    assert not search._plans  # a slice ends in the middle of the plan
    while not search.step(time.monotonic() + 1.0):
        pass
    assert search.outcome is Outcome.SOLVED
    assert search.positions <= 6


def test_boxes_that_stand_on_their_goals_need_no_way() -> None:
    """Nothing moves the box in the corner. The other one has a way in all plans."""
    geometry, start, at = numbered("########", "#*  #  #", "# $ # .#", "#      #", "# @    #", "########")
    plan = packing_plan(geometry, start, everywhere=True)
    assert all(phase.planned for phase in plan.phases)
    assert {*plan.phases[0].base, *plan.phases[0].squares} >= {at[1, 1]}


def _in_the_way(geometry: Geometry, sinks: set[int], boxes: set[int], keeper: int) -> int:
    """The fewest boxes in the way of one that can be pulled to a sink, in order of their number."""
    neighbours, sides = geometry.neighbours.tolist(), side_classes(geometry).tolist()
    walked = region(geometry, boxes, keeper)
    waiting = [(0, sink, side) for sink in sinks for side in range(4) if sides[sink][side] == side]
    seen: set[tuple[int, int]] = set()
    while waiting:
        cost, square, part = heapq.heappop(waiting)
        if (square, part) in seen:
            continue
        seen.add((square, part))
        around = [neighbours[square][side] for side in range(4) if sides[square][side] == part]
        if square in boxes:
            if walked & set(around):
                return cost
            continue
        for side in range(4):
            there = neighbours[square][side ^ 2]
            if sides[square][side] == part and there != geometry.size:
                in_the_way = neighbours[square][side] in boxes
                heapq.heappush(waiting, (cost + in_the_way, there, sides[there][side]))
    return _MOST_IN_THE_WAY


def _matched(masks: Sequence[int]) -> int:
    """The most masks that can have bits of their own, by trying all ways."""
    if not masks:
        return 0
    bits = [bit for bit in range(masks[0].bit_length()) if masks[0] >> bit & 1]
    rest = masks[1:]
    return max([_matched(rest), *(1 + _matched([x & ~(1 << bit) for x in rest]) for bit in bits)])


@given(st.integers(0, 100_000), st.integers(0, 2))
@examples(100)
def test_no_more_boxes_leave_than_sinks_take(seed: int, spare: int) -> None:
    geometry, start = random_position(seed)
    free = [square for square in range(geometry.size) if square not in start.boxes]
    sinks = free[:: max(1, len(free) // 2)]
    if not start.boxes or not len(geometry.goals):
        return
    boxes, keepers = list(start.boxes), [start.keeper]
    every = _Puller(geometry, sinks, spare=len(boxes)).leave(boxes, keepers)[1]
    _, rounds, masks = _Puller(geometry, sinks, spare=spare).leave(boxes, keepers)
    left = [mask for mask, turn in zip(masks, rounds, strict=True) if turn]
    assert all(other for turn, other in zip(rounds, every, strict=True) if turn)
    assert len(left) <= _matched(left) + spare
    if len(left) < sum(turn > 0 for turn in every):
        assert len(left) == _matched(left) + spare


@given(st.integers(0, 100_000), st.lists(st.integers(1, 3), max_size=2))
@examples(60)
def test_boxes_in_the_way_space_and_distance_after_each_pull(seed: int, taken: list[int]) -> None:
    geometry, start = random_position(seed)
    free = [square for square in range(geometry.size) if square not in start.boxes]
    sinks = free[:: max(1, len(free) // 2)]
    if not start.boxes or not len(geometry.goals):
        return
    puller = _Puller(geometry, sinks)
    if len(taken) + len(start.boxes) > len(geometry.goals) or max(taken, default=0).bit_length() > len(sinks):
        taken = []
    way = _Way(list(start.boxes), start.keeper, None, tuple(taken))
    first, again = (puller.pulls(way, salt) for salt in (1, 1))
    assert not again
    assert puller.pulls(way, 2) == first
    open_ = {sink for bit, sink in enumerate(sinks) if _matched([*taken, 1 << bit]) > len(taken)}
    for pull in first:
        boxes = {*start.boxes[: pull.box], pull.stance >> 2, *start.boxes[pull.box + 1 :]}
        keeper = int(geometry.neighbours[pull.stance >> 2, pull.stance & 3])
        assert pull.in_the_way == _in_the_way(geometry, open_, boxes, keeper)
        assert pull.space == len(region(geometry, boxes, keeper))
        assert pull.distance == sum(_steps_to_a_goal(geometry, box) for box in boxes)


def _steps_to_a_goal(geometry: Geometry, square: int) -> int:
    """The steps from the nearest goal, through boxes; a large number if there is no way."""
    seen = set(geometry.goals.tolist())
    ring, steps = set(seen), 0
    while ring:
        if square in ring:
            return steps
        ring = (
            {there for here in ring for there in geometry.neighbours[here].tolist()} - seen - {geometry.size}
        )
        seen |= ring
        steps += 1
    return 1 << 20

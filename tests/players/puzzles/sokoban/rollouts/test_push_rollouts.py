"""Playouts and UCT at push level against the oracle of all states."""

from __future__ import annotations

import numpy as np
import pytest

from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.deadsets.dead_sets import make_dead_sets
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of
from players.puzzles.sokoban.rollouts.playouts import (
    ALL,
    CORRALS,
    CUT,
    FREEZES,
    NOGOODS,
    SETS,
    SOLVED,
    SQUARES,
    STUCK,
    PushPlayouts,
)
from players.puzzles.sokoban.rollouts.push_uct import PushUct
from players.puzzles.sokoban.search.push_search import LevelKnowledge, Outcome, PushTask
from players.puzzles.sokoban.state_space import StateSpace, explore

LEVELS = (
    Level(("########", "#  .   #", "# $#$  #", "# . @  #", "########")),
    Level(("#######", "#     #", "# .$. #", "#.$@$ #", "#     #", "#######")),
    Level(("######  ", "#    ###", "# $  . #", "#  $ . #", "#  @ ###", "######  ")),
    Level(("#########", "#   #   #", "# $   $ #", "## #@# ##", " #.   .# ", " ####### ")),
)
HOPELESS = Level(("#######", "#$ @ .#", "#     #", "#######"))


def _space(level: Level) -> tuple[StateSpace, dict[tuple[tuple[int, ...], int], int]]:
    space = explore(*from_level(level), 200_000)
    numbers = {}
    for number in range(space.size):
        position = space.position(number)
        numbers[position.boxes, position.keeper] = number
    return space, numbers


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "asked", [0, SQUARES, SQUARES | FREEZES, SQUARES | FREEZES | CORRALS, SQUARES | SETS, ALL]
)
def test_playouts_end_in_states_of_the_level_as_they_say(level: Level, asked: int) -> None:
    space, numbers = _space(level)
    _, start = from_level(level)
    ends = PushPlayouts(make_dead_sets(space.geometry), len(start.boxes), asked, seed=1).play(
        start, 300, most=30
    )
    for status, pushes, boxes, keeper in zip(*(array.tolist() for array in ends), strict=True):
        number = numbers[tuple(boxes), keeper]
        position = space.position(number)
        assert (status == SOLVED) == is_solved(space.geometry, position)
        assert pushes <= 30
        assert pushes == 30 or status != CUT
        if status == STUCK:
            assert not space.alive[number]


@pytest.mark.parametrize("level", LEVELS)
def test_more_knowledge_leads_into_fewer_dead_ends(level: Level) -> None:
    space, numbers = _space(level)
    _, start = from_level(level)
    dead = []
    for asked in (0, SQUARES | FREEZES, ALL):
        ends = PushPlayouts(make_dead_sets(space.geometry), len(start.boxes), asked, seed=1).play(
            start, 500, most=30
        )
        pairs = zip(ends.boxes.tolist(), ends.keepers.tolist(), strict=True)
        last = [numbers[tuple(boxes), keeper] for boxes, keeper in pairs]
        dead.append(int((~space.alive[last]).sum()))
    assert dead[0] >= dead[1] >= dead[2]
    assert dead[0] > dead[2] or dead[0] == 0


def test_no_position_that_can_be_solved_is_noted_as_lost() -> None:
    count = 0
    for level in LEVELS:
        space, _ = _space(level)
        _, start = from_level(level)
        playouts = PushPlayouts(
            make_dead_sets(space.geometry), len(start.boxes), SQUARES | FREEZES | CORRALS | NOGOODS, seed=2
        )
        playouts.play(start, 2000, most=40)
        noted = set(playouts.room.nogoods.tolist()) - {0}
        count += len(noted)
        keys = new_board(space.geometry).keys
        for number in np.flatnonzero(space.alive).tolist():
            position = space.position(number)
            key = np.bitwise_xor.reduce(keys[0, list(position.boxes)]) ^ keys[1, position.keeper]
            assert int(key) not in noted
    assert count


@pytest.mark.parametrize("asked", [0, SQUARES | FREEZES | NOGOODS, ALL])
@pytest.mark.parametrize("level", LEVELS)
def test_uct_solves_small_levels(level: Level, asked: int) -> None:
    geometry, start = from_level(level)
    search = PushUct(PushTask(LevelKnowledge(geometry), start, 10 << 20, seed=3), asked)
    while search.step(0.5) is Outcome.GOING_ON:
        pass
    assert search.outcome is Outcome.SOLVED
    assert is_solved(geometry, after_steps(geometry, start, steps_of(geometry, start, search.pushes)))


def test_uct_that_has_closed_its_tree_says_that_there_is_no_solution() -> None:
    geometry, start = from_level(HOPELESS)
    search = PushUct(PushTask(LevelKnowledge(geometry), start, 10 << 20))
    assert search.step(60.0) is Outcome.UNSOLVABLE


def test_uct_without_memory_says_so_and_proves_nothing() -> None:
    geometry, start = from_level(
        Level(("###########", "#    @    #", "# $ $ $ $ #", "#         #", "# . . . . #", "###########"))
    )
    search = PushUct(PushTask(LevelKnowledge(geometry), start, 1), most=1)
    assert search.step(60.0) in (Outcome.MEMORY_FULL, Outcome.SOLVED)

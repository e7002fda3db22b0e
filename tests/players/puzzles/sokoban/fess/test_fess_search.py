"""FESS solves levels, its pushes replay, and it finds nothing where nothing is to be found."""

from __future__ import annotations

import math
import time

import pytest

from bench.sokoban.state_space import explore
from players.puzzles.sokoban.fess.search import STYLES, Fess, FessStyle
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of
from players.puzzles.sokoban.push_search import PushTask
from players.puzzles.sokoban.solution import Outcome

SOLVABLE = (
    Level(("########", "#  .   #", "# $#$  #", "# . @  #", "########")),
    Level(("#######", "#     #", "# .$. #", "#.$@$ #", "#     #", "#######")),
    Level(("########", "#  ....#", "# $$$$ #", "#  @   #", "########")),
    Level(
        (
            "##############",
            "#   #    #   #",
            "# $   $    $ #",
            "# $ # $  # $ #",
            "#   #    #   #",
            "### #### ## ##",
            "#@    #  ....#",
            "#  $     ....#",
            "##############",
        )
    ),
)
UNSOLVABLE = Level(("#######", "#     #", "#$$ . #", "#.  @ #", "#$  . #", "#     #", "#######"))
MEMORY = 40 << 20


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", range(len(SOLVABLE)))
def test_solutions_replay(number: int, style: FessStyle) -> None:
    geometry, start = from_level(SOLVABLE[number])
    search = Fess(PushTask(geometry, start, MEMORY))
    search.styles = (style,)  # type: ignore[misc]
    assert search.step(math.inf)
    assert search.outcome is Outcome.SOLVED
    assert is_solved(geometry, after_steps(geometry, start, steps_of(geometry, start, search.pushes)))


def test_slices_add_up() -> None:
    geometry, start = from_level(SOLVABLE[3])
    search = Fess(PushTask(geometry, start, MEMORY))
    while not search.step(time.monotonic() + 0.0005):
        pass
    assert search.outcome is Outcome.SOLVED


def test_no_boxes_are_a_solution_of_no_pushes() -> None:
    geometry, start = from_level(Level(("#####", "#@* #", "#####")))
    search = Fess(PushTask(geometry, start, MEMORY))
    assert search.step(math.inf)
    assert search.outcome is Outcome.SOLVED
    assert not search.pushes


def test_every_small_level_is_solved_or_exhausted() -> None:
    """A solution is found just when the oracle says that there is one."""
    rows = ("#######", "#     #", "# ### #", "#     #", "#######")
    solved = 0
    for box in ((1, 2), (1, 5), (2, 1), (3, 3)):
        for goal in ((1, 3), (3, 1), (3, 4)):
            drawn = [list(row) for row in rows]
            drawn[box[0]][box[1]], drawn[goal[0]][goal[1]], drawn[1][1] = "$", ".", "@"
            geometry, start = from_level(Level(tuple("".join(row) for row in drawn)))
            search = Fess(PushTask(geometry, start, MEMORY))
            search.step(math.inf)
            alive = bool(explore(geometry, start, 10_000).alive[0])
            assert search.outcome is (Outcome.SOLVED if alive else Outcome.GAVE_UP)
            solved += alive
    assert 0 < solved < 12


def test_two_boxes_at_a_wall_with_one_goal_exhaust_the_search() -> None:
    geometry, start = from_level(UNSOLVABLE)
    search = Fess(PushTask(geometry, start, MEMORY))
    assert search.step(math.inf)
    assert search.outcome is Outcome.GAVE_UP

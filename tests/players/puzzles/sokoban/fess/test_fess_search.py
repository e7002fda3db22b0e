"""FESS solves levels, its pushes replay, and it finds nothing where nothing is to be found."""

from __future__ import annotations

import pytest

from bench.sokoban.state_space import explore
from players.puzzles.sokoban.fess.search import STYLES, FessSearch, FessStyle
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of

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
    search = FessSearch(geometry, start, MEMORY, (style,))
    pushes = search.step(60)
    assert pushes is not None
    assert is_solved(geometry, after_steps(geometry, start, steps_of(geometry, start, pushes)))


def test_slices_add_up() -> None:
    geometry, start = from_level(SOLVABLE[3])
    search = FessSearch(geometry, start, MEMORY)
    pushes = None
    for _ in range(100_000):
        pushes = search.step(0.0005)
        if pushes is not None:
            break
    assert pushes is not None


def test_no_boxes_are_a_solution_of_no_pushes() -> None:
    geometry, start = from_level(Level(("#####", "#@* #", "#####")))
    assert FessSearch(geometry, start, MEMORY).step(10) == []


def test_every_small_level_is_solved_or_exhausted() -> None:
    """A solution is found just when the oracle says that there is one."""
    rows = ("#######", "#     #", "# ### #", "#     #", "#######")
    solved = 0
    for box in ((1, 2), (1, 5), (2, 1), (3, 3)):
        for goal in ((1, 3), (3, 1), (3, 4)):
            drawn = [list(row) for row in rows]
            drawn[box[0]][box[1]], drawn[goal[0]][goal[1]], drawn[1][1] = "$", ".", "@"
            geometry, start = from_level(Level(tuple("".join(row) for row in drawn)))
            search = FessSearch(geometry, start, MEMORY)
            pushes = search.step(30)
            assert (pushes is not None) == bool(explore(geometry, start, 10_000).alive[0])
            assert search.exhausted == (pushes is None)
            solved += pushes is not None
    assert 0 < solved < 12


def test_two_boxes_at_a_wall_with_one_goal_exhaust_the_search() -> None:
    geometry, start = from_level(UNSOLVABLE)
    search = FessSearch(geometry, start, MEMORY)
    assert search.step(60) is None
    assert search.exhausted
    assert not search.full

"""LURD is read, written and checked; what is wrong with it is said with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.city import run_length
from gdl.errors import GdlError
from ggp.sokoban.lurd import check_lurd, lurd_of_file, read_lurd, snapshot
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.read import read_levels
from players.puzzles.sokoban.lines import after_steps, is_solved
from tests.ggp.sokoban.levels import SOLUTION, corner

STEPS = st.text("urdlURDL", max_size=60)


@given(STEPS)
def test_run_lengths_say_the_same_steps(steps: str) -> None:
    assert read_lurd(run_length(steps)) == read_lurd(steps) == steps


@given(STEPS, st.integers(0, 5), STEPS)
def test_groups_are_repeated(before: str, times: int, inside: str) -> None:
    assert read_lurd(f"{before}\n {times}({run_length(inside)})") == before + times * inside


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("rrx", "1:3", "'x' is not a step"),
        ("rr\n uüd", "2:3", "'ü' is not a step"),
        ("r(ud", "1:2", "never closed"),
        ("rr)d", "1:3", "closes nothing"),
        ("ud12", "1:3", "'1' is not a step"),
        ("9999999999999r", "1:1", "more than 5,000,000 steps"),
        ("9999(9999(9999(r)))", "1:18", "more than 5,000,000 steps"),
        ("ud٣r", "1:3", "is not a step"),
    ],
)
def test_bad_letters_are_named_with_their_place(text: str, place: str, says: str) -> None:
    with pytest.raises(GdlError, match=says) as error:
        read_lurd(text, "file")
    assert str(error.value).startswith(f"file:{place}: ")


@given(STEPS)
def test_checking_agrees_with_making_the_steps(steps: str) -> None:
    stage = corner()
    verdict = check_lurd(stage, steps)
    made = after_steps(stage.geometry, stage.start, steps[: verdict.moves])
    assert made == verdict.position
    assert bool(verdict.fault) == (verdict.moves < len(steps))
    assert verdict.solved == (not verdict.fault and is_solved(stage.geometry, made))
    if verdict.fault:
        with pytest.raises(GdlError):
            after_steps(stage.geometry, stage.start, steps[: verdict.moves + 1])


def test_a_solution_is_one() -> None:
    verdict = check_lurd(corner(), SOLUTION)
    assert (verdict.moves, verdict.pushes, verdict.solved, verdict.fault) == (20, 6, True, "")
    assert verdict.miswritten == 0
    assert check_lurd(corner(), SOLUTION.lower()).miswritten == 6


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ("u", "step 1, u, cannot be made: from row 4, column 4 it runs into a wall"),
        (
            "rrR",
            "step 2, r, cannot be made: from row 4, column 5 it pushes the box in row 4, column 6 against "
            "a wall",
        ),
    ],
)
def test_the_first_step_that_cannot_be_made_is_told(steps: str, fault: str) -> None:
    assert check_lurd(corner(), steps).fault == fault


def test_a_snapshot_is_level_and_solution() -> None:
    stage = corner()
    text = snapshot(stage, SOLUTION, "hand")
    (level,) = read_levels(text)
    geometry, start = from_level(level)
    assert start == stage.start
    assert geometry.goals.tolist() == stage.geometry.goals.tolist()
    assert level.title == "Corner"
    assert lurd_of_file(text, "x.sok") == SOLUTION
    with pytest.raises(GdlError, match="2 solutions"):
        lurd_of_file(text + "\n" + text, "x.sok")
    with pytest.raises(GdlError, match=r"x\.sok:11:2: 'x' is not a step"):
        lurd_of_file(text.replace(SOLUTION, "lxl"), "x.sok")


def test_long_solutions_are_folded_in_snapshots() -> None:
    steps = "lr" * 200
    assert lurd_of_file(snapshot(corner(), steps), "x.sok") == steps
    assert max(map(len, snapshot(corner(), steps).splitlines())) <= 70

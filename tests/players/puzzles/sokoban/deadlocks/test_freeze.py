"""Freeze deadlocks: the traps that people know, and all states of small levels."""

from __future__ import annotations

import pytest

from players.puzzles.sokoban.deadlocks.freeze import frozen_boxes, has_freeze_deadlock
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level


def _numbers(rows: tuple[str, ...]) -> dict[tuple[int, int], int]:
    geometry, _ = from_level(Level(rows))
    return {(y, x): number for number, (y, x) in enumerate(geometry.places.tolist())}


@pytest.mark.parametrize(
    ("rows", "pushed", "frozen", "deadlock"),
    [
        # Two at a wall.
        (("#######", "# $$  #", "#   @ #", "#  .. #", "#######"), (1, 3), {(1, 2), (1, 3)}, True),
        # A square on goals only.
        (
            ("#######", "# **  #", "# **@ #", "#     #", "#######"),
            (2, 3),
            {(1, 2), (1, 3), (2, 2), (2, 3)},
            False,
        ),
        # One of the square can still be pushed away.
        (("#######", "#  .  #", "# $$  #", "#  $@ #", "#  .. #", "#######"), (3, 3), set(), False),
        # A recursion that takes a box as a wall outside the branch that assumed it would call these frozen.
        (
            ("########", "# ..   #", "#  $$  #", "#   $$ #", "# ..  @#", "#      #", "########"),
            (3, 4),
            set(),
            False,
        ),
    ],
)
def test_known_positions(
    rows: tuple[str, ...], pushed: tuple[int, int], frozen: set[tuple[int, int]], deadlock: bool
) -> None:
    geometry, position = from_level(Level(rows))
    numbers = _numbers(rows)
    assert set(frozen_boxes(geometry, position, numbers[pushed])) == {numbers[place] for place in frozen}
    assert has_freeze_deadlock(geometry, position, numbers[pushed]) == deadlock

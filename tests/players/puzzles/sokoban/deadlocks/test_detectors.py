"""Every detector over all states of small levels, and its table of patterns: none is ever wrong."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from bench.sokoban.deadlocks import LAST, Tally, ask, prune
from bench.sokoban.patterns import minimal_patterns, pack
from bench.sokoban.state_space import StateSpace, explore
from gdl.errors import GdlError, TooLargeError
from players.puzzles.sokoban.board import Board, new_board, place_boxes
from players.puzzles.sokoban.deadlocks.bipartite import has_bipartite_deadlock
from players.puzzles.sokoban.deadlocks.corral_deadlock import pushes_needed
from players.puzzles.sokoban.deadlocks.freeze import frozen_boxes
from players.puzzles.sokoban.deadlocks.patterns import (
    PATH,
    Patterns,
    is_pattern_deadlock,
    new_patterns,
    patterns_up_to_symmetry,
)
from players.puzzles.sokoban.geometry import STEPS, Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import levels_of_file
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.players.puzzles.sokoban.small_levels import numbered, small_levels


def has_freeze_deadlock(geometry: Geometry, position: Position, square: int) -> bool:
    """Whether the box on this square is frozen, alone or with others, and one of them is not on a goal."""
    return not set(frozen_boxes(geometry, position, square)) <= set(geometry.goals.tolist())


def has_pattern_deadlock(geometry: Geometry, position: Position, square: int) -> bool:
    """Whether the box on this square is part of a pattern."""
    board = new_board(geometry)
    place_boxes(board, position)
    return bool(_is_pattern_deadlock(board, new_patterns(geometry), square, position.keeper))


@kernel
def _is_pattern_deadlock(board: Board, patterns: Patterns, square: int, keeper: int) -> bool:
    return is_pattern_deadlock(board, patterns, square, keeper)


def _space(level: Level, most: int) -> StateSpace | None:
    try:
        return explore(*from_level(level), most)
    except (GdlError, TooLargeError):
        return None


def _frozen(geometry: Geometry, position: Position, square: int) -> set[int]:
    """The largest set with the box in which each is blocked along both axes, by walls and the set itself."""
    frozen = set(position.boxes)

    def is_blocked(box: int) -> bool:
        around = geometry.neighbours[box].tolist()
        return all(
            any(around[way] == geometry.size or around[way] in frozen for way in (axis, axis + 2))
            for axis in (0, 1)
        )

    while free := {box for box in frozen if not is_blocked(box)}:
        frozen -= free
    return frozen if square in frozen else set()


@pytest.mark.slow
@examples(30)
@given(small_levels())
def test_no_detector_is_wrong_and_no_pruning_spoils(level: Level) -> None:
    space = _space(level, 20_000)
    if space is None:
        return
    tallies: dict[str, Tally] = {}
    if len(space.edges):
        ask(space, 300, 0, tallies)
    assert not [name for name, tally in tallies.items() if tally.wrong]
    _, spoilt_by_corrals, _, spoilt_by_tunnels = prune(space, 300)
    assert (spoilt_by_corrals, spoilt_by_tunnels) == (0, 0)


@examples(40)
@given(small_levels())
def test_frozen_boxes_are_at_least_those_that_walls_and_boxes_hold(level: Level) -> None:
    space = _space(level, 5_000)
    if space is None or not len(space.edges):
        return
    for edge in np.linspace(0, len(space.edges) - 1, 5).astype(int).tolist():
        _, child, box, way = space.edges[edge].tolist()
        square = int(space.geometry.neighbours[box, way])
        position = space.position(child)
        found = set(frozen_boxes(space.geometry, position, square))
        plain = _frozen(space.geometry, position, square)
        assert bool(plain) <= bool(found)
        if plain and not plain <= set(space.geometry.goals.tolist()) and plain == found:
            assert has_freeze_deadlock(space.geometry, position, square)


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
def test_known_freezes(
    rows: tuple[str, ...], pushed: tuple[int, int], frozen: set[tuple[int, int]], deadlock: bool
) -> None:
    geometry, position, numbers = numbered(*rows)
    assert set(frozen_boxes(geometry, position, numbers[pushed])) == {numbers[place] for place in frozen}
    assert has_freeze_deadlock(geometry, position, numbers[pushed]) == deadlock


def test_boxes_of_a_closed_corral_that_cannot_be_packed_are_dead() -> None:
    geometry, position, _ = numbered(
        "#########",
        "#   $ . #",
        "### #   #",
        "#   $ @.#",
        "#########",
    )
    # Both boxes stop up the left room; the only pushes go into it, and from there nothing comes back.
    assert pushes_needed(geometry, position) == []


def test_a_corral_that_must_be_opened_leaves_out_all_other_pushes() -> None:
    geometry, position, numbers = numbered(
        "#########",
        "#.  #   #",
        "#   $ @ #",
        "#.  # $ #",
        "#   #   #",
        "#########",
    )
    assert pushes_needed(geometry, position) == [(numbers[2, 4], 3)]


def test_a_corral_of_boxes_on_goals_need_not_be_opened() -> None:
    geometry, position, _ = numbered(
        "#########",
        "#   #   #",
        "#   * @ #",
        "#   # $.#",
        "#   #   #",
        "#########",
    )
    assert pushes_needed(geometry, position) is None


def test_a_goal_in_a_corral_waits_for_a_box_if_there_are_no_more_goals_than_boxes() -> None:
    geometry, position, numbers = numbered(
        "#########",
        "#   #   #",
        "#.  * @ #",
        "#   # $ #",
        "#   #   #",
        "#########",
    )
    assert pushes_needed(geometry, position) == [(numbers[2, 4], 3)]


def test_two_boxes_for_one_reachable_goal_are_a_bipartite_deadlock() -> None:
    geometry, position, _ = numbered(
        "########",
        "#.     #",
        "#$ $   #",
        "#@    .#",
        "#.     #",
        "########",
    )
    assert not has_bipartite_deadlock(geometry, position)
    geometry, position, _ = numbered(
        "########",
        "#.     #",
        "#$     #",
        "#   @ .#",
        "#$     #",
        "########",
    )
    assert has_bipartite_deadlock(geometry, position)


def test_frozen_boxes_on_goals_block_the_ways_of_others() -> None:
    rows = ("########", "##.#####", "##*   @#", "##*$   #", "########")
    geometry, position, _ = numbered(*rows)
    # The two on goals are frozen beside each other, and the last goal lies behind them.
    assert has_bipartite_deadlock(geometry, position)


def test_a_pattern_with_a_hole_is_dead_unless_the_keeper_is_in_it() -> None:
    geometry, position, numbers = numbered(
        "##########",
        "#   @    #",
        "#        #",
        "#  #$    #",
        "#  $ $   #",
        "#   $$   #",
        "#        #",
        "#        #",
        "#.....   #",
        "##########",
    )
    inside = Position(position.boxes, numbers[4, 4])
    for place in [(3, 4), (4, 3), (4, 5), (5, 4), (5, 5)]:
        assert not has_freeze_deadlock(geometry, position, numbers[place])
        assert has_pattern_deadlock(geometry, position, numbers[place])
        assert not has_pattern_deadlock(geometry, inside, numbers[place])


@pytest.mark.slow
def test_detectors_are_never_wrong_in_known_levels_and_flag_most(microban: Path) -> None:
    tallies: dict[str, Tally] = {}
    asked = 0
    for level in levels_of_file(microban)[:30]:
        if (space := _space(level, 2_000)) is not None:
            ask(space, 300, 3, tallies)
            assert prune(space, 300)[1::2] == (0, 0)
            asked += 1
    assert asked > 10
    for name in (f"all to {LAST}", "sets of up to 3"):
        assert tallies[name].flagged > 0.9 * tallies[name].fatal
    assert not [name for name, tally in tallies.items() if tally.wrong]


# --- The table of 4 by 4 patterns against plain search, and what it says of positions
Cells = frozenset[tuple[int, int]]
INNER = (1, 1), (1, 2), (2, 1), (2, 2)


def _cells(mask: int) -> Cells:
    return frozenset((cell // 4, cell % 4) for cell in range(16) if mask >> cell & 1)


def _can_be_emptied(walls: Cells, boxes: Cells, keeper: tuple[int, int]) -> bool:
    """Single steps of a keeper on a map of 6 by 6, the window in its middle; boxes that leave it are gone."""

    def is_open(place: tuple[int, int]) -> bool:
        return -1 <= place[0] < 5 and -1 <= place[1] < 5 and place not in walls

    seen = {(boxes, keeper)}
    waiting = [(boxes, keeper)]
    while waiting:
        boxes, (y, x) = waiting.pop()
        if not boxes:
            return True
        for dy, dx in STEPS:
            there, beyond = (y + dy, x + dx), (y + 2 * dy, x + 2 * dx)
            if not is_open(there):
                continue
            after = boxes
            if there in boxes:
                if not is_open(beyond) or beyond in boxes:
                    continue
                after = boxes - {there}
                if 0 <= beyond[0] < 4 and 0 <= beyond[1] < 4:
                    after |= {beyond}
            if (after, there) not in seen:
                seen.add((after, there))
                waiting.append((after, there))
    return False


@pytest.mark.slow
def test_what_is_stored_is_what_the_solver_finds() -> None:
    found = minimal_patterns()
    assert len(found) == 1127
    assert (patterns_up_to_symmetry() == found).all()
    assert len(PATH.read_bytes()) == len(pack(found)) < 4000


def test_patterns_are_dead_and_minimal() -> None:
    rows = [row for row in patterns_up_to_symmetry().tolist() if row[1].bit_count() <= 6]
    for walls, boxes, parts in random.Random(1).sample(rows, 40):
        wall, box = _cells(walls), _cells(boxes)
        for part, keeper in enumerate([(-1, -1), *INNER]):
            if not parts >> part & 1:
                continue
            assert not _can_be_emptied(wall, box, keeper)
            for place in wall:
                assert _can_be_emptied(wall - {place}, box, keeper)
            for place in box:
                assert _can_be_emptied(wall, box - {place}, keeper)

"""No detector of FESS calls a position dead that can be solved, by the oracle of all states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.sokoban.state_space import explore
from gdl.errors import TooLargeError
from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board, walk
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, is_bipartite_deadlock, new_bipartite
from players.puzzles.sokoban.fess.deadlocks import (
    Area,
    FrozenMatching,
    is_area_deadlock,
    is_unmatched,
    new_area,
    new_frozen_matching,
)
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, new_maneuvers
from players.puzzles.sokoban.geometry import from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import read_levels
from propnet.jit.arrays import Flags, Int32s, Ints, Words
from propnet.jit.decorators import kernel

OURS = (
    Level(("########", "#  .   #", "# $#$  #", "# . @  #", "########")),
    Level(("#######", "#     #", "# .$. #", "#.$@$ #", "#     #", "#######")),
    Level(("######  ", "#    ###", "# $  . #", "#  $ . #", "#  @ ###", "######  ")),
    Level(("########", "#  ....#", "# $$$$ #", "#  @   #", "########")),
    Level(("##########", "#   ##  .#", "# $ $   .#", "#  @##  .#", "#   ## $ #", "##########")),
)


@kernel
def _flagged(
    board: Board,
    area: Area,
    bipartite: Bipartite,
    matching: FrozenMatching,
    room: Maneuvers,
    goals: Int32s,
    records: Words,
    alive: Flags,
    counts: Ints,
) -> None:
    """Count flagged positions: rows area, matching; columns dead and alive."""
    size = len(board.occupied) - 1
    boxes = np.zeros(len(goals), np.int32)
    for row in range(len(records)):
        count = 0
        for square in range(size):
            bit = records[row, square // 64] >> np.uint64(square % 64) & np.uint64(1)
            board.occupied[square] = BOXED if bit else FREE
            if bit:
                boxes[count] = square
                count += 1
        keeper = walk(board, np.int64(records[row, records.shape[1] - 1]))
        state = 1 if alive[row] else 0
        for number in range(count):
            if is_area_deadlock(board, area, boxes[number], keeper, 3, 300):
                counts[0, state] += 1
                break
        known = is_bipartite_deadlock(board, bipartite, keeper)
        if not known and is_unmatched(matching, room, bipartite.freeze, goals, boxes, keeper):
            counts[1, state] += 1


def _counts(level: Level, most: int) -> Ints:
    geometry, start = from_level(level)
    space = explore(geometry, start, most)
    counts = np.zeros((2, 2), np.int64)
    if len(start.boxes) == len(geometry.goals):
        _flagged(
            new_board(geometry),
            new_area(geometry),
            new_bipartite(geometry),
            new_frozen_matching(geometry, len(start.boxes)),
            new_maneuvers(geometry),
            np.ascontiguousarray(geometry.goals, np.int32),
            space.records,
            space.alive,
            counts,
        )
    return counts


@pytest.mark.slow
def test_our_levels() -> None:
    total = sum((_counts(level, 100_000) for level in OURS), np.zeros((2, 2), np.int64))
    assert total[:, 1].tolist() == [0, 0]
    assert total[0, 0] > 100  # it does find dead positions


@pytest.mark.slow
def test_levels_that_people_made(microban: Path) -> None:
    total = np.zeros((2, 2), np.int64)
    for level in read_levels(microban.read_text(encoding="utf-8"))[:25]:
        try:
            total += _counts(level, 5_000)
        except TooLargeError:
            continue
    assert total[:, 1].tolist() == [0, 0]
    assert (total[:, 0] > 0).all()

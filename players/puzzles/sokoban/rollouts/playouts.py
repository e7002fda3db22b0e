"""`PushPlayouts`: random playouts at push level, from any position of a level.

>>> from players.puzzles.sokoban.deadsets.dead_sets import make_dead_sets
>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("########", "#      #", "#@ $ . #", "########")))
>>> playouts = PushPlayouts(make_dead_sets(geometry), len(start.boxes))
>>> ends = playouts.play(start, 1000, most=50)
>>> bool((ends.status == SOLVED).mean() > 0.5)
True
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import new_board
from players.puzzles.sokoban.deadlocks.corral_deadlock import new_corral_detector
from players.puzzles.sokoban.deadlocks.freeze import new_freeze
from players.puzzles.sokoban.deadsets.dead_sets import DeadSets
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.rollouts.playout_kernels import (
    CORRALS,
    CUT,
    FREEZES,
    NOGOODS,
    SETS,
    SOLVED,
    SQUARES,
    STUCK,
    PlayoutRoom,
    push_playouts,
)
from propnet.jit.arrays import Int32s

__all__ = [
    "ALL",
    "CORRALS",
    "CUT",
    "FREEZES",
    "NOGOODS",
    "SETS",
    "SOLVED",
    "SQUARES",
    "STUCK",
    "PushEnds",
    "PushPlayouts",
]

ALL = SQUARES | FREEZES | SETS | CORRALS | NOGOODS
_NOGOODS = 1 << 16


class PushEnds(NamedTuple):
    """How playouts ended.

    Attributes:
        status: int32, shape (playouts,): SOLVED, STUCK or CUT.
        pushes: int32, shape (playouts,): how many pushes were made.
        boxes: int32, shape (playouts, boxes): where the boxes were at last, ascending.
        keepers: int32, shape (playouts,): the lowest square of the keeper's region.
    """

    status: Int32s
    pushes: Int32s
    boxes: Int32s
    keepers: Int32s


class PushPlayouts:
    """Plays levels of one geometry with a number of boxes.

    Args:
        sets: the dead sets of the geometry.
        asked: what playouts know, a sum of SQUARES, FREEZES, SETS and CORRALS.
        budget: states that the search of one corral may expand.
        seed: what the randomness comes from.
    """

    def __init__(
        self,
        sets: DeadSets,
        boxes: int,
        asked: int = ALL,
        budget: int = 200,
        seed: int = 0,
    ) -> None:
        self.room = new_room(sets, boxes, budget)
        self._asked, self._budget = asked, budget
        self._random = np.array([seed], np.uint64)

    def play(self, start: Position, count: int, most: int = 100) -> PushEnds:
        """So many playouts of up to ``most`` pushes."""
        boxes = np.array(start.boxes, np.int32)
        ends, last = np.zeros((count, 2), np.int32), np.zeros((count, len(boxes) + 1), np.int32)
        trace = np.zeros(most, np.int32)
        push_playouts(
            self.room,
            self._asked,
            boxes,
            start.keeper,
            most,
            self._budget,
            self._random,
            trace,
            ends,
            last,
        )
        return PushEnds(ends[:, 0], ends[:, 1], np.sort(last[:, :-1], axis=1), last[:, -1])


def new_room(sets: DeadSets, boxes: int, budget: int) -> PlayoutRoom:
    """All detectors of a geometry, and room for so many boxes."""
    geometry = sets.geometry
    return PlayoutRoom(
        new_board(geometry),
        new_freeze(geometry),
        new_corral_detector(geometry, max(1, budget)),
        sets.lookup,
        np.zeros(sets.squares.words, np.uint64),
        np.zeros(boxes, np.int32),
        np.zeros((4 * boxes + 1, 2), np.int32),
        np.zeros(_NOGOODS, np.uint64),
    )

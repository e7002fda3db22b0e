"""All corrals of a position at once: whether one is a deadlock, and which pushes a search need make.

The driver of :mod:`players.puzzles.sokoban.deadlocks.corrals`, `pi_corral` and `corral_search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import Board, new_board, place_boxes, walk
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, frozen_entry
from players.puzzles.sokoban.deadlocks.corral_search import DEAD, CorralSearch, judge_set, new_corral_search
from players.puzzles.sokoban.deadlocks.corrals import find_corrals
from players.puzzles.sokoban.deadlocks.pi_corral import (
    OPEN,
    PiCorral,
    add_corral,
    begin_set,
    close_set,
    must_move,
    new_pi_corral,
)
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push
from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import ARENA, inner, kernel


class CorralDetector(NamedTuple):
    """What :func:`corral_pushes` needs of a level.

    Attributes:
        pi: the set that grows.
        search: for verdicts.
        pushes: int32, shape (4 * size + 1, 2): box and direction of the pushes of the smallest set.
        goals: int32, shape (1,): how many goals there are.
    """

    pi: PiCorral
    search: CorralSearch
    pushes: Int32s
    goals: Int32s


def new_corral_detector(
    geometry: Geometry, most: int = 1000, entries: int = 1 << 15, beyond: bool = False
) -> CorralDetector:
    """The detector of a level.

    Args:
        most: the largest budget of a sub-search, in states.
        entries: how many verdicts are kept, a power of two.
        beyond: whether sub-searches go on when a box has left its corral, until all are packed or the budget
            is spent. They find more deadlocks and take longer; use a small budget.
    """
    search = new_corral_search(geometry, most, entries, beyond)
    pi = new_pi_corral(search.freeze.dead)
    goals = np.array([len(geometry.goals)], np.int32)
    return CorralDetector(pi, search, np.zeros_like(pi.pushes), goals)


@inner
def corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """Look at all corrals of the position that the last ``walk`` was made in, with the keeper in his region.

    Returns how many pushes a search need make: the first rows of ``detector.pushes``; 0 if the position is
    dead; OPEN (-1) if nothing is known and all pushes count. ``budget``: how many states each sub-search may
    expand; 0 for none.
    """
    pi = detector.pi
    best = np.int64(OPEN)
    for number in range(find_corrals(board, pi.corrals)):
        root = np.int64(pi.corrals.roots[number])
        begin_set(pi)
        add_corral(board, pi, root)
        count = np.int64(close_set(board, pi))
        if count != OPEN and not must_move(board, pi, detector.goals[0]):
            continue
        if count == 0 or (budget and judge_set(pi, detector.search, keeper, budget) == DEAD):
            return 0
        if count != OPEN and (best == OPEN or count < best):
            best = count
            for row in range(count):
                detector.pushes[row, 0] = pi.pushes[row, 0]
                detector.pushes[row, 1] = pi.pushes[row, 1]
    return best


@inner
def corral_pushes_beside_frozen(
    board: Board, detector: CorralDetector, bipartite: Bipartite, keeper: Index, budget: Index
) -> Index:
    """The same, frozen boxes on goals being walls that make more squares dead; 0 also if a frozen box is not
    on a goal. Two microseconds or so more than :func:`corral_pushes`, which must not be called with the same
    ``detector``: it would go on with these dead squares."""
    entry, _ = frozen_entry(board, bipartite)
    if entry < 0:
        return 0
    search, dead = detector.search, detector.pi.dead
    if search.salt[0] != bipartite.kept[entry]:
        search.salt[0] = bipartite.kept[entry]
        for square in range(len(dead)):
            dead[square] = bipartite.dead[entry, square]
    return corral_pushes(board, detector, keeper, budget)


def pushes_needed(geometry: Geometry, position: Position, budget: int = 1000) -> list[Push] | None:
    """The pushes that a search need make, none if the position is dead; None if all count."""
    board, detector = new_board(geometry), new_corral_detector(geometry, budget)
    place_boxes(board, position)
    count = _corral_pushes(board, detector, np.int64(position.keeper), np.int64(budget))
    return None if count == OPEN else [(box, way) for box, way in detector.pushes[:count].tolist()]


@kernel(**ARENA)
def _corral_pushes(board: Board, detector: CorralDetector, keeper: Index, budget: Index) -> Index:
    """For Python."""
    walk(board, keeper)
    return corral_pushes(board, detector, keeper, budget)

"""Diagonal deadlocks: boxes and walls along both sides of a diagonal, sealed at both ends (Meger).

The squares of the diagonal are its centres; two squares lie between each and the next, a pair. A sealed
stretch has a wall or a box on its first and last centre, nothing on those between, and boxes or walls on all
pairs. No box of it can move but into a centre between; then that box is the end of a shorter sealed stretch.
So one is always left, and when all is solved all its boxes are on goals. A stretch is dead if each of its
pairs has a box that is not on a goal: then no shorter one can be packed either.
"""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.board import FREE, Board, new_board, place_boxes
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index
from propnet.jit.decorators import ARENA, inner, kernel


@inner
def is_diagonal_deadlock(board: Board, square: Index, keeper: Index) -> bool:
    """Whether the box that was just pushed to this square seals a dead stretch, the keeper being there."""
    neighbours, occupied = board.neighbours, board.occupied
    for upright in range(0, 4, 2):
        for across in range(1, 4, 2):
            # The box as the end of a stretch that goes up or down, right or left.
            if _is_sealed(board, square, upright, across, keeper):
                return True
            # The box in a pair, between the centres above or below, and right or left of it.
            one, two = neighbours[square, upright], neighbours[square, across]
            partner = min(neighbours[one, across], neighbours[two, upright])
            if occupied[partner] == FREE or not (_is_off_goal(board, square) or _is_off_goal(board, partner)):
                continue
            if keeper in (one, two) or one == two:
                continue  # from within he opens the stretch; a corner is a dead square
            if (occupied[one] != FREE or _is_sealed(board, one, upright, across ^ 2, keeper)) and (
                occupied[two] != FREE or _is_sealed(board, two, upright ^ 2, across, keeper)
            ):
                return True
    return False


@inner
def _is_off_goal(board: Board, square: Index) -> bool:
    """Whether a square that is not free has a box which is not on a goal."""
    return bool(square != len(board.goal) - 1 and not board.goal[square])


@inner
def _is_sealed(board: Board, centre: Index, upright: Index, across: Index, keeper: Index) -> bool:
    """Whether a stretch from a centre, this one not looked at, goes on to an end, and might be dead."""
    neighbours, occupied = board.neighbours, board.occupied
    while True:
        one, two = neighbours[centre, upright], neighbours[centre, across]
        if occupied[one] == FREE or occupied[two] == FREE:
            return False
        if not (_is_off_goal(board, one) or _is_off_goal(board, two)):
            return False
        centre = min(neighbours[one, across], neighbours[two, upright])
        if occupied[centre] != FREE:
            return True
        if centre == keeper:
            return False


def has_diagonal_deadlock(geometry: Geometry, position: Position, square: int) -> bool:
    """The same for Python: :func:`is_diagonal_deadlock`."""
    board = new_board(geometry)
    place_boxes(board, position)
    return bool(_is_diagonal_deadlock(board, np.int64(square), np.int64(position.keeper)))


@kernel(**ARENA)
def _is_diagonal_deadlock(board: Board, square: Index, keeper: Index) -> bool:
    """For Python."""
    return is_diagonal_deadlock(board, square, keeper)

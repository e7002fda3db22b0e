"""Freeze deadlocks: boxes that block each other for ever, one of them not on a goal.

A set of boxes is frozen if each is blocked along both axes: by a wall, by a box of the set, or because its
pushes both ways would end on dead squares. The largest such set remains when boxes that are not blocked are
removed repeatedly. The well-known recursion (a box is blocked by a blocked box, with boxes on the path of the
recursion as walls) finds no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, OUTSIDE, Board, new_board, next_stamp, place_boxes
from players.puzzles.sokoban.distances import dead_sides
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index, Int32s, Octets
from propnet.jit.decorators import ARENA, inner, kernel


class Freeze(NamedTuple):
    """The detector's data about a level, and its scratch space.

    Attributes:
        dead: uint8, shape (size + 1,): :func:`players.puzzles.sokoban.distances.dead_sides`.
        marks: int32, shape (size + 1,): boxes that hold the stamp of the last query were frozen by it.
        stamp: int32, shape (1,).
        group: int32, shape (size + 1,): the boxes examined by the last query.
    """

    dead: Octets
    marks: Int32s
    stamp: Int32s
    group: Int32s


def new_freeze(geometry: Geometry) -> Freeze:
    """Return the detector of a level."""
    rows = geometry.size + 1
    return Freeze(
        dead_sides(geometry), np.zeros(rows, np.int32), np.zeros(1, np.int32), np.zeros(rows, np.int32)
    )


@inner
def is_freeze_deadlock(board: Board, freeze: Freeze, square: Index) -> bool:
    """Return whether the box just pushed to this square makes a freeze deadlock: boxes that can never move
    again, one of them not on a goal."""
    count = frozen_with(board, freeze, square)
    for number in range(count):
        if not board.goal[freeze.group[number]]:
            break
    else:
        return False
    return True


@inner
def frozen_with(board: Board, freeze: Freeze, square: Index) -> Index:
    """Find the boxes that are frozen together with the one on this square. Returns their number, 0 if the box
    itself is not frozen. They are the first of ``freeze.group``, and have the stamp in ``freeze.marks``."""
    neighbours, occupied, marks, group = board.neighbours, board.occupied, freeze.marks, freeze.group
    stamp = next_stamp(marks, freeze.stamp)
    # Collect boxes that touch and would be blocked if all boxes were walls. The others are marked by minus
    # the stamp.
    group[0] = square
    marks[square] = stamp
    count, head = 1, 0
    while head < count:
        box = group[head]
        if _is_blocked(board, freeze, freeze.dead, box, False):
            head += 1
            for direction in range(4):
                there = neighbours[box, direction]
                if occupied[there] == BOXED and abs(marks[there]) != stamp:
                    marks[there] = stamp
                    group[count] = there
                    count += 1
        elif box == square:
            return 0
        else:
            marks[box] = -stamp
            count -= 1
            group[head] = group[count]
    # Remove those that are not blocked by one another, until all are.
    number = 0
    while number < count:
        box = group[number]
        if _is_blocked(board, freeze, freeze.dead, box, True):
            number += 1
            continue
        if box == square:
            return 0
        marks[box] = -stamp
        count -= 1
        group[number] = group[count]
        number = 0
    return count


@inner
def freeze_all(board: Board, freeze: Freeze, dead: Octets) -> Index:
    """Find all frozen boxes of the position, with the caller's dead sides. Returns their number. They are the
    first of ``freeze.group``, and have the stamp in ``freeze.marks``."""
    occupied, marks, group = board.occupied, freeze.marks, freeze.group
    stamp = next_stamp(marks, freeze.stamp)
    count = 0
    for square in range(len(occupied) - 1):
        if occupied[square] == BOXED and _is_blocked(board, freeze, dead, square, False):
            marks[square] = stamp
            group[count] = square
            count += 1
    number = 0
    while number < count:
        if _is_blocked(board, freeze, dead, group[number], True):
            number += 1
        else:
            marks[group[number]] = 0
            count -= 1
            group[number] = group[count]
            number = 0
    return count


@inner
def _is_blocked(board: Board, freeze: Freeze, dead: Octets, square: Index, strict: bool) -> bool:
    """Return whether a box on this square is blocked along both axes by walls, dead squares and boxes: all
    boxes or, if ``strict``, those marked as frozen."""
    occupied = board.occupied
    stamp = freeze.stamp[0]
    for axis in range(2):
        one, two = board.neighbours[square, axis], board.neighbours[square, axis + 2]
        if occupied[one] != FREE and (not strict or occupied[one] == OUTSIDE or freeze.marks[one] == stamp):
            continue
        if occupied[two] != FREE and (not strict or occupied[two] == OUTSIDE or freeze.marks[two] == stamp):
            continue
        if dead[one] >> (axis + 2) & 1 and dead[two] >> axis & 1:
            continue
        return False
    return True


def frozen_boxes(geometry: Geometry, position: Position, square: int) -> tuple[int, ...]:
    """Return the boxes that are frozen together with the one on this square, for tests and explanations."""
    board, freeze = new_board(geometry), new_freeze(geometry)
    place_boxes(board, position)
    count = _frozen_with(board, freeze, np.int64(square))
    return tuple(sorted(freeze.group[:count].tolist()))


@kernel(**ARENA)
def _frozen_with(board: Board, freeze: Freeze, square: Index) -> Index:
    """Call the kernel from Python."""
    return frozen_with(board, freeze, square)

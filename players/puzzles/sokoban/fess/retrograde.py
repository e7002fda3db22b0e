"""Retrograde deadlocks: boxes that were packed too early for the others (Shoham and Schaeffer 2020, appendix).

From the solved position, with the boxes that are frozen now as walls, boxes are pulled away from goals and
taken off the board. Where one can never be pulled, it must stand there by now: if none does, the position is
dead.
"""

from __future__ import annotations

from players.puzzles.sokoban.board import BOXED, FREE, Board
from players.puzzles.sokoban.deadlocks.freeze import Freeze
from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import inner


@inner
def is_retrograde_deadlock(board: Board, freeze: Freeze, goals: Int32s, left: Int32s) -> bool:
    """Whether a goal that is empty can never be filled beside the boxes that ``freeze`` has marked; there must
    be as many boxes as goals. The keeper is taken to come to every square that holds no box. ``left``: int32,
    shape (goals,)."""
    neighbours, occupied = board.neighbours, board.occupied
    size = len(occupied) - 1
    stamp = freeze.stamp[0]
    frozen = 0
    count = 0
    for number in range(len(goals)):
        goal = goals[number]
        if occupied[goal] == BOXED and freeze.marks[goal] == stamp:
            frozen += 1
        else:
            left[count] = goal
            count += 1
    if frozen == 0:
        return False
    # A square holds a wall if it is a frozen box or the goal of a box that is left.
    number = 0
    while number < count:
        goal = left[number]
        for direction in range(4):
            there = neighbours[goal, direction]
            beyond = neighbours[there, direction]
            if (
                there != size
                and beyond != size
                and not _is_filled(board, freeze, left, count, there)
                and not _is_filled(board, freeze, left, count, beyond)
            ):
                count -= 1
                left[number] = left[count]
                number = -1
                break
        number += 1
    for number in range(count):
        if occupied[left[number]] == FREE:
            return True
    return False


@inner
def _is_filled(board: Board, freeze: Freeze, left: Int32s, count: Index, square: Index) -> bool:
    """Whether a frozen box or one that is left stands on this square."""
    if board.occupied[square] == BOXED and freeze.marks[square] == freeze.stamp[0]:
        return True
    if not board.goal[square]:
        return False
    for number in range(count):
        if left[number] == square:
            return True
    return False

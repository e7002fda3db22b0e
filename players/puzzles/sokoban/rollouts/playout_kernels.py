"""Random pushes until the level is solved, no push is left, or there were enough of them (depth charges).

A push is drawn from all that can be made, each with the same chance, and made unless it is known to lead into
a deadlock; then another one is drawn. Detectors are asked for the push that was drawn alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, walk
from players.puzzles.sokoban.deadlocks.corral_deadlock import CorralDetector, corral_pushes
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock
from players.puzzles.sokoban.deadsets.lookup import Lookup, clear_box, dead_after_push, set_box
from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.splitmix import next_random

SQUARES, FREEZES, SETS, CORRALS, NOGOODS = 1, 2, 4, 8, 16
"""What a playout knows: dead squares, freeze deadlocks, dead sets of boxes, corrals, and positions in which
playouts before found no push that does not lose."""

SOLVED, STUCK, CUT = range(3)
"""How a playout ends: all boxes on goals, no push left that is not known to be lost, or too many pushes."""


class PlayoutRoom(NamedTuple):
    """What playouts ask, and their room to work. Each thread has its own.

    Attributes:
        board: where the boxes of the playout are.
        freeze: the detector of freeze deadlocks, which knows the dead sides too.
        corrals: the detector of corrals.
        sets: dead sets, by keeper sides.
        bits: uint64, shape (words,): the boxes as ``sets`` has them.
        squares: int32, shape (boxes,): where each box is.
        choices: int32, shape (4 * boxes, 2): number of the box and direction of pushes.
        nogoods: uint64, a power of two of places: keys of lost positions, each in the place that its lowest
            bits say, the last one to come.
    """

    board: Board
    freeze: Freeze
    corrals: CorralDetector
    sets: Lookup
    bits: Words
    squares: Int32s
    choices: Int32s
    nogoods: Words


@inner
def list_pushes(knows: PlayoutRoom, needed: Index) -> Index:
    """List the pushes of the keeper of the last walk in ``choices``; of those that the corral detector has
    found to be needed, if that is not all. Returns how many they are."""
    board, squares, choices = knows.board, knows.squares, knows.choices
    count = 0
    for number in range(len(squares)):
        box = np.int64(squares[number])
        for direction in range(4):
            if not can_push(board, box, direction):
                continue
            wanted = needed < 0
            for row in range(needed):
                if knows.corrals.pushes[row, 0] == box and knows.corrals.pushes[row, 1] == direction:
                    wanted = True
            if wanted:
                choices[count, 0] = number
                choices[count, 1] = direction
                count += 1
    return count


@inner
def is_lost(knows: PlayoutRoom, asked: Index, box: Index, square: Index, direction: Index) -> bool:
    """Whether the push that has just brought a box from ``box`` to ``square`` is known to lose, by what needs
    no walk."""
    if asked & SQUARES and knows.freeze.dead[square] >> (direction ^ 2) & 1:
        return True
    if asked & SETS:
        clear_box(knows.sets, knows.bits, box)
        set_box(knows.sets, knows.bits, square)
        dead = dead_after_push(knows.sets, knows.bits, square, direction)
        clear_box(knows.sets, knows.bits, square)
        set_box(knows.sets, knows.bits, box)
        if dead:
            return True
    return bool(asked & FREEZES and is_freeze_deadlock(knows.board, knows.freeze, square))


@inner
def note_boxes(knows: PlayoutRoom) -> None:
    """Have ``bits`` say where the boxes are, after ``squares``."""
    knows.bits[:] = np.uint64(0)
    for number in range(len(knows.squares)):
        set_box(knows.sets, knows.bits, knows.squares[number])


@inner
def is_nogood(nogoods: Words, key: np.uint64) -> bool:
    """Whether the position with this key is known to be lost."""
    return bool(nogoods[key & np.uint64(len(nogoods) - 1)] == key)


@inner
def add_nogood(nogoods: Words, key: np.uint64) -> None:
    """Note that the position with this key is lost."""
    nogoods[key & np.uint64(len(nogoods) - 1)] = key


@inner
def play_out(
    knows: PlayoutRoom, asked: Index, keeper: Index, most: Index, budget: Index, random: Words, trace: Int32s
) -> tuple[Index, Index]:
    """Play from the boxes on the board, which ``squares`` lists too. Both hold the last position at the end.

    ``trace``, int32, shape (most,), takes the pushes: 4 times the square of the box plus the direction.
    Returns SOLVED, STUCK or CUT, and how many pushes were made.
    """
    board, squares, choices = knows.board, knows.squares, knows.choices
    neighbours, occupied, goal = board.neighbours, board.occupied, board.goal
    keys, nogoods = board.keys, knows.nogoods
    missing, bare = np.int64(0), np.uint64(0)
    for number in range(len(squares)):
        missing += 1 - np.int64(goal[squares[number]])
        bare ^= keys[0, squares[number]]
    note_boxes(knows)
    region = np.int64(walk(board, keeper))
    needed = np.int64(-1)
    if asked & CORRALS:
        needed = np.int64(corral_pushes(board, knows.corrals, keeper, budget))
    for made in range(most + 1):
        if missing == 0:
            return SOLVED, made
        if made == most:
            break
        left = list_pushes(knows, needed)
        while left:
            drawn = np.int64(next_random(random) % np.uint64(left))
            place, direction = np.int64(choices[drawn, 0]), np.int64(choices[drawn, 1])
            box = np.int64(squares[place])
            square = np.int64(neighbours[box, direction])
            occupied[box] = FREE
            occupied[square] = BOXED
            change = keys[0, box] ^ keys[0, square]
            after = np.int64(missing) + np.int64(goal[box]) - np.int64(goal[square])
            lost = is_lost(knows, asked, box, square, direction)
            if not lost and after:
                there = np.int64(walk(board, box))
                key = bare ^ change ^ keys[1, there]
                lost = bool(asked & NOGOODS) and is_nogood(nogoods, key)
                needed = np.int64(-1)
                if not lost and asked & CORRALS:
                    needed = np.int64(corral_pushes(board, knows.corrals, box, budget))
                    lost = needed == 0
                    if lost and asked & NOGOODS:
                        add_nogood(nogoods, key)
                if not lost:
                    region = there
            if not lost:
                squares[place] = square
                clear_box(knows.sets, knows.bits, box)
                set_box(knows.sets, knows.bits, square)
                missing = after
                bare ^= change
                trace[made] = 4 * box + direction
                break
            occupied[square] = FREE
            occupied[box] = BOXED
            left -= 1
            choices[drawn, 0] = choices[left, 0]
            choices[drawn, 1] = choices[left, 1]
        if left == 0:
            if asked & NOGOODS:
                add_nogood(nogoods, bare ^ keys[1, region])
            return STUCK, made
    return CUT, most


@kernel(**ARENA)
def push_playouts(
    knows: PlayoutRoom,
    asked: int,
    boxes: Int32s,
    keeper: int,
    most: int,
    budget: int,
    random: Words,
    trace: Int32s,
    ends: Int32s,
    last: Int32s,
) -> None:
    """Play out from one position as often as ``ends`` has rows.

    Args:
        asked: the sum of what is known: SQUARES, FREEZES, SETS, CORRALS.
        boxes: int32, shape (boxes,).
        most: pushes at most.
        budget: states that a corral's search may expand.
        random: uint64, shape (1,): changes.
        trace: int32, shape (most,): room.
        ends: int32, shape (playouts, 2): takes how each ended (SOLVED, STUCK, CUT) and its pushes.
        last: int32, shape (playouts, boxes + 1): takes the last position: boxes in any order, and the lowest
            square of the keeper's region.
    """
    board, squares = knows.board, knows.squares
    count = len(boxes)
    for number in range(count):
        squares[number] = boxes[number]
        board.occupied[boxes[number]] = BOXED
    for row in range(len(ends)):
        end, made = play_out(knows, asked, keeper, most, budget, random, trace)
        ends[row, 0] = end
        ends[row, 1] = made
        stands = np.int64(keeper) if made == 0 else np.int64(trace[made - 1] >> 2)
        last[row, count] = walk(board, stands)
        for number in range(count):
            last[row, number] = squares[number]
            board.occupied[squares[number]] = FREE
        for number in range(count):
            squares[number] = boxes[number]
            board.occupied[boxes[number]] = BOXED
    for number in range(count):
        board.occupied[boxes[number]] = FREE

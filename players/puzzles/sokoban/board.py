"""The board that kernels work on: the squares of boxes, and the squares that the keeper can walk to.

All arrays have one entry for each square and one for the outside (:mod:`players.puzzles.sokoban.geometry`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index, Int32s, Octets, Words
from propnet.jit.decorators import inner

FREE, BOXED, OUTSIDE = range(3)
"""The contents of a square. The keeper is not on the board."""


class Board(NamedTuple):
    """A changing position, with space for walks. Kernels take it directly; each thread has its own.

    Attributes:
        neighbours: int32, shape (size + 1, 4): the neighbours of the geometry.
        goal: uint8, shape (size + 1,): 1 on goals.
        occupied: uint8, shape (size + 1,): FREE, BOXED or OUTSIDE.
        reached: int32, shape (size + 1,): a square is reached if it holds the stamp of the last walk.
        stamp: int32, shape (1,): the stamp of the last walk. A new walk takes the next one, which clears all
            marks at once.
        queue: int32, shape (size + 1,): squares that a walk must still expand.
        keys: uint64, shape (2, size + 1): random numbers for boxes (row 0) and the keeper (row 1), to be
            combined by exclusive or (Zobrist 1970).
    """

    neighbours: Int32s
    goal: Octets
    occupied: Octets
    reached: Int32s
    stamp: Int32s
    queue: Int32s
    keys: Words


def new_board(geometry: Geometry) -> Board:
    """Return an empty board of this geometry. The keys are the same for the same number of squares."""
    size = geometry.size
    goal = np.zeros(size + 1, np.uint8)
    goal[geometry.goals] = 1
    occupied = np.zeros(size + 1, np.uint8)
    occupied[size] = OUTSIDE
    return Board(
        np.ascontiguousarray(geometry.neighbours, dtype=np.int32),
        goal,
        occupied,
        np.zeros(size + 1, np.int32),
        np.zeros(1, np.int32),
        np.zeros(size + 1, np.int32),
        np.random.default_rng(0x50C0BA).integers(1, 2**63, (2, size + 1)).astype(np.uint64),
    )


def place_boxes(board: Board, position: Position) -> None:
    """Place the boxes of this position on the board, and no others."""
    board.occupied[:-1] = FREE
    board.occupied[list(position.boxes)] = BOXED


@inner
def next_stamp(marks: Int32s, stamp: Int32s) -> np.int32:
    """Clear all marks, which are the entries that hold ``stamp``, int32, shape (1,), by taking a new one.
    Every two billion times they are really erased."""
    if stamp[0] == 2**31 - 1:
        marks[:] = 0
        stamp[0] = 0
    stamp[0] += 1
    return np.int32(stamp[0])


@inner
def walk(board: Board, keeper: Index) -> Index:
    """Mark the squares that the keeper can walk to as ``reached``; ``queue`` lists them in the order reached.
    Returns the lowest of them, which stands for the keeper's whole region."""
    neighbours, occupied, reached, queue = board.neighbours, board.occupied, board.reached, board.queue
    stamp = next_stamp(reached, board.stamp)
    reached[keeper] = stamp
    queue[0] = keeper
    lowest = np.int64(keeper)
    head, tail = 0, 1
    while head < tail:
        square = queue[head]
        head += 1
        lowest = min(lowest, np.int64(square))
        for direction in range(4):
            there = neighbours[square, direction]
            if reached[there] != stamp and occupied[there] == FREE:
                reached[there] = stamp
                queue[tail] = there
                tail += 1
    return lowest


@inner
def find_key(table: Words, key: np.uint64) -> Index:
    """Return the slot of a key in a set (open addressing in a power of two of slots, 0 free), or minus one
    minus the free slot for it."""
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot] != 0:
        if table[slot] == key:
            return np.int64(slot)
        slot = (slot + np.uint64(1)) & mask
    return -1 - np.int64(slot)


@inner
def can_push(board: Board, box: Index, direction: Index) -> bool:
    """Return whether the keeper of the last walk can push this box: he can get behind it, and the square
    ahead is free."""
    behind = board.neighbours[box, direction ^ 2]
    ahead = board.neighbours[box, direction]
    return bool(board.reached[behind] == board.stamp[0] and board.occupied[ahead] == FREE)


@inner
def push(board: Board, box: Index, direction: Index) -> Index:
    """Move a box by one square. Returns the keeper's new square, where the box was."""
    board.occupied[box] = FREE
    board.occupied[board.neighbours[box, direction]] = BOXED
    return box

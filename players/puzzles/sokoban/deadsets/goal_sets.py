"""The inversion: whether every two goals still have two boxes that can fill them (H. Marxen's memo, 2011).

Where there are as many boxes as goals, each goal is filled in the end. So for each pair of goals some pair of
the boxes must be alive when just these two count as goals. This also says that each goal has a box.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np

from players.puzzles.sokoban.deadsets.pairs import sides_of_pairs, spread_pairs
from players.puzzles.sokoban.deadsets.squares import BoxSquares
from propnet.jit.arrays import Index, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import item, lowest_bit

ANY = 4
"""The plane of :func:`fillers` for any keeper."""


def fillers(squares: BoxSquares, deadline: float = np.inf) -> Words:
    """Which pairs of boxes can fill which pairs of goals.

    Returns uint64, shape (pairs of goals, 5, n, words): bit b of row [d, a] is set if boxes on a and b can
    fill these two goals by a keeper on a's neighbour in direction d; of row [ANY, a] if for some keeper.
    When the clock stops it, the pairs of goals done so far.

    Args:
        deadline: of this thread's CPU time (``time.thread_time``), in seconds.
    """
    n = len(squares.squares)
    pairs = list(combinations(squares.goals.tolist(), 2))
    rows = np.zeros((len(pairs), 5, n, squares.words), np.uint64)
    parts = sides_of_pairs(squares)
    stack = np.zeros((8 * len(parts), 3), np.int32)
    for number, pair in enumerate(pairs):
        if time.thread_time() > deadline:
            return rows[:number]
        known = np.zeros(len(parts), np.uint8)
        spread_pairs(squares, np.array([pair], np.int32), parts, known, stack)
        _in_planes(n, known, rows[number])
        for a, b in (pair, pair[::-1]):  # filled already, even if nobody can stand beside them
            rows[number, ANY, a, b >> 6] |= np.uint64(1 << (b & 63))
    return rows


@kernel(**ARENA)
def _in_planes(n: Index, known: Octets, rows: Words) -> None:
    one = np.uint64(1)
    for high in range(n):
        for low in range(high):
            sides = np.int64(known[high * (high - 1) // 2 + low])
            if not sides:
                continue
            rows[ANY, low, high >> 6] |= one << np.uint64(high & 63)
            rows[ANY, high, low >> 6] |= one << np.uint64(low & 63)
            for direction in range(4):
                if sides >> direction & 1:
                    rows[direction, low, high >> 6] |= one << np.uint64(high & 63)
                if sides >> direction & 16:
                    rows[direction, high, low >> 6] |= one << np.uint64(low & 63)


@inner
def some_goals_unfilled(rows: Words, bits: Words, number: Index, side: Index) -> bool:
    """Whether two goals are left that no two of the boxes can fill: the position is dead.

    Args:
        rows: of :func:`fillers`.
        bits: uint64, shape (words,): all boxes, as many as there are goals.
        number: of the square of a box that the keeper is beside; -1 if it is not known where he is.
        side: in which direction of it he is.
    """
    pairs, planes, n, words = rows.shape
    for pair in range(pairs):
        found = False
        if number >= 0:
            row = ((pair * planes + side) * n + number) * words
            for v in range(words):
                if item(rows, row + v) & item(bits, v):
                    found = True
        for w in range(words):
            left = item(bits, w)
            while left and not found:
                box = 64 * w + lowest_bit(left)
                left &= left - np.uint64(1)
                if box == number:
                    continue
                row = ((pair * planes + ANY) * n + box) * words
                for v in range(words):
                    others = item(bits, v)
                    if number >> 6 == v:
                        others &= ~(np.uint64(1) << np.uint64(number & 63))
                    if item(rows, row + v) & others:
                        found = True
        if not found:
            return True
    return False

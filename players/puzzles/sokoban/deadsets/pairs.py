"""Find the pairs of boxes that can still be brought to two goals, by keeper side: retrograde analysis by
pulls from all pairs of goals (Thompson 1986).

A state is a pair of boxes and a set of connected sides: the neighbours of the two boxes that the keeper can
walk to from one another.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from players.puzzles.sokoban.deadsets.squares import BoxSquares
from propnet.jit.arrays import Index, Int32s, Octets, Words
from propnet.jit.decorators import ARENA, inner, kernel


def alive_pairs(squares: BoxSquares) -> Words:
    """Return the pairs that can be solved.

    Returns uint64, shape (4 n, words): bit b of row 4 a + d is set if boxes on a and b can be brought to two
    goals by a keeper who is on a's neighbour in direction d.
    """
    n = len(squares.squares)
    alive = np.zeros((4 * max(n, 1), squares.words), np.uint64)
    parts = np.zeros((n * (n - 1) // 2, 8), np.uint8)
    _connect_all(squares, parts, np.zeros((2, len(squares.numbers)), np.int32))
    alive_sides = np.zeros(len(parts), np.uint8)
    solved = np.array(list(combinations(squares.goals.tolist(), 2)), np.int32).reshape(-1, 2)
    _spread_pairs(squares, solved, parts, alive_sides, np.zeros((8 * len(parts), 3), np.int32))
    _in_rows(n, alive_sides, alive)
    return alive


@inner
def _connect_sides(
    squares: BoxSquares, low: Index, high: Index, parts: Octets, room: Int32s, stamp: Index
) -> Index:
    """Fill ``parts``, uint8, shape (8,): for each side of two boxes (the lower one's four directions, then
    the other's) the bits of all sides that the keeper can walk to from there; 0 if he cannot stand there.
    ``room``: int32, shape (2, size + 1): marks and a queue. Returns the last stamp used for marks."""
    neighbours = squares.neighbours
    outside = len(neighbours) - 1
    first, second = squares.squares[low], squares.squares[high]
    marks, queue = room[0], room[1]
    for side in range(8):
        parts[side] = 0
    left = np.int64(0)
    for side in range(8):
        there = neighbours[first if side < 4 else second, side & 3]
        if there != outside and there != first and there != second:
            left |= 1 << side
    for side in range(8):
        if not left >> side & 1:
            continue
        stamp += 1
        marks[first] = stamp
        marks[second] = stamp
        start = neighbours[first if side < 4 else second, side & 3]
        marks[start] = stamp
        queue[0] = start
        head, tail = 0, 1
        found = np.int64(0)
        while head < tail and found != left:
            square = queue[head]
            head += 1
            for direction in range(4):
                there = neighbours[square, direction]
                if there == first:
                    found |= 1 << (direction ^ 2)
                elif there == second:
                    found |= 16 << (direction ^ 2)
                elif there != outside and marks[there] != stamp:
                    marks[there] = stamp
                    queue[tail] = there
                    tail += 1
        found &= left
        left &= ~found
        for other in range(8):
            if found >> other & 1:
                parts[other] = np.uint8(found)
    return stamp


@kernel(**ARENA)
def _connect_all(squares: BoxSquares, parts: Octets, room: Int32s) -> None:
    stamp: Index = 0
    for high in range(len(squares.squares)):
        for low in range(high):
            stamp = _connect_sides(squares, low, high, parts[high * (high - 1) // 2 + low], room, stamp)


@kernel(**ARENA)
def _spread_pairs(squares: BoxSquares, solved: Int32s, parts: Octets, known: Octets, stack: Int32s) -> None:
    """Go back by pulls from solved pairs.

    Args:
        solved: int32, shape (any, 2): pairs on goals, ascending each.
        parts: uint8, shape (pairs, 8): how the sides of all pairs are connected (:func:`_connect_sides`).
        known: uint8, shape (pairs,), zeros: receives the sides that are alive, the lower box's first.
        stack: int32, shape (8 pairs, 3), a stack of pairs and sides to continue from.
    """
    neighbours, numbers = squares.neighbours, squares.numbers
    outside = len(neighbours) - 1
    depth = 0
    for row in range(len(solved)):
        pair = solved[row, 1] * (solved[row, 1] - 1) // 2 + solved[row, 0]
        for side in range(8):
            known[pair] |= parts[pair, side]
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = solved[row, 0], solved[row, 1], known[pair]
        depth += 1
    while depth:
        depth -= 1
        low, high, sides = stack[depth]
        for side in range(8):
            if not sides >> side & 1:
                continue
            box, other = (low, high) if side < 4 else (high, low)
            other_square = squares.squares[other]
            origin = neighbours[squares.squares[box], side & 3]
            behind = neighbours[origin, side & 3]
            if behind == outside or numbers[origin] < 0 or other_square == behind:
                continue
            moved = np.int64(numbers[origin])
            first, second = (moved, other) if moved < other else (other, moved)
            pair = second * (second - 1) // 2 + first
            new = parts[pair, (side & 3) + (0 if moved == first else 4)]
            if new & ~known[pair]:
                known[pair] |= new
                stack[depth, 0], stack[depth, 1], stack[depth, 2] = first, second, new
                depth += 1


@kernel(**ARENA)
def _in_rows(n: Index, known: Octets, alive: Words) -> None:
    for high in range(n):
        for low in range(high):
            sides = known[high * (high - 1) // 2 + low]
            for direction in range(4):
                if sides >> direction & 1:
                    alive[4 * low + direction, high >> 6] |= np.uint64(1) << np.uint64(high & 63)
                if sides >> direction & 16:
                    alive[4 * high + direction, low >> 6] |= np.uint64(1) << np.uint64(low & 63)

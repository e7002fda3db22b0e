"""Corrals: the parts of the map that the keeper cannot reach, by union-find in one pass (Tarjan 1975)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, FREE, Board
from propnet.jit.arrays import Index, Int32s
from propnet.jit.decorators import inner


class Corrals(NamedTuple):
    """The corrals of a position. All arrays are int32.

    Attributes:
        parents: shape (size + 1,): a square nearer to the root of its corral, for free squares out of reach.
        first: shape (size + 1,): the first square of a corral, by its root.
        following: shape (size + 1,): the next square of the same corral, -1 after the last.
        roots: shape (size + 1,): the roots of all corrals.
        boxes: shape (1,): how many boxes are on the board.
    """

    parents: Int32s
    first: Int32s
    following: Int32s
    roots: Int32s
    boxes: Int32s


def new_corrals(size: int) -> Corrals:
    """Room for the corrals of a level with this many squares."""
    parents, first, following, roots = (np.zeros(size + 1, np.int32) for _ in range(4))
    return Corrals(parents, first, following, roots, np.zeros(1, np.int32))


@inner
def root_of(parents: Int32s, square: Index) -> Index:
    """The root of a square's corral; the way there is halved."""
    while parents[square] != square:
        parents[square] = parents[parents[square]]
        square = parents[square]
    return square


@inner
def find_corrals(board: Board, corrals: Corrals) -> Index:
    """Find the corrals of the position that the last ``walk`` was made in, and count the boxes. Returns how
    many corrals there are; the first of ``roots`` are theirs."""
    neighbours, occupied, reached, parents = board.neighbours, board.occupied, board.reached, corrals.parents
    stamp = board.stamp[0]
    size = len(occupied) - 1
    boxes, squares, count = 0, 0, 0
    for square in range(size):
        if occupied[square] == BOXED:
            boxes += 1
        elif reached[square] != stamp:
            parents[square] = square
            squares += 1
            for direction in range(4):
                there = neighbours[square, direction]
                if there < square and occupied[there] == FREE and reached[there] != stamp:
                    parents[root_of(parents, there)] = square
    corrals.boxes[0] = boxes
    if squares == 0:
        return 0
    for square in range(size - 1, -1, -1):
        if occupied[square] == FREE and reached[square] != stamp:
            root = root_of(parents, square)
            if root == square:
                corrals.roots[count] = root
                count += 1
                corrals.first[root] = -1
            corrals.following[square] = corrals.first[root]
            corrals.first[root] = square
    return count

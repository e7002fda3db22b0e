"""The cells of feature space, and in each a heap of moves that wait to be made.

The heaps are skew heaps (Sleator and Tarjan 1986) in flat arrays: two of them are melted without a copy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints
from propnet.jit.decorators import inner

NONE = -1


class Moves(NamedTuple):
    """Moves that were found, one entry each.

    Attributes:
        rank: int64: the least is made first.
        left, right: int32: the move's children in its heap.
        node: int32: where it is made.
        origin: int32: the square of the box that it moves.
        stance: int32: where the box goes, and where the keeper stands then.
        length: int64, shape (1,): how many there are.
    """

    rank: Ints
    left: Int32s
    right: Int32s
    node: Int32s
    origin: Int32s
    stance: Int32s
    length: Ints


class Cells(NamedTuple):
    """The cells that were met, in the order of their meeting.

    Attributes:
        key: int64: the features of each.
        root: int32: the top of its heap, or NONE.
        table: int32, a power of two of slots: cells by key, plus one.
        length: int64, shape (1,): how many cells there are.
    """

    key: Ints
    root: Int32s
    table: Int32s
    length: Ints


def new_moves(most: int) -> Moves:
    """Room for so many moves."""
    left, right, node, origin, stance = (np.zeros(most, np.int32) for _ in range(5))
    return Moves(np.zeros(most, np.int64), left, right, node, origin, stance, np.zeros(1, np.int64))


def new_cells(most: int) -> Cells:
    """Room for so many cells; more share the last one."""
    return Cells(
        np.zeros(most, np.int64),
        np.full(most, NONE, np.int32),
        np.zeros(1 << (4 * most).bit_length(), np.int32),
        np.zeros(1, np.int64),
    )


@inner
def meld(moves: Moves, one: Index, two: Index) -> Index:
    """Make one heap of two."""
    rank, left, right = moves.rank, moves.left, moves.right
    if one < 0:
        return two
    if two < 0:
        return one
    if rank[two] < rank[one]:
        one, two = two, one
    root = one
    while True:
        rest = right[one]
        right[one] = left[one]
        if rest < 0:
            left[one] = two
            return root
        if rank[two] < rank[rest]:
            rest, two = two, rest
        left[one] = rest
        one = rest


@inner
def find_cell(cells: Cells, key: Index) -> Index:
    """The cell of these features; a new one if it was never met."""
    mask = len(cells.table) - 1
    slot = np.int64(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) & mask
    while cells.table[slot]:
        cell = cells.table[slot] - 1
        if cells.key[cell] == key:
            return np.int64(cell)
        slot = slot + 1 & mask
    cell = cells.length[0]
    if cell == len(cells.key):
        return np.int64(cell - 1)
    cells.length[0] += 1
    cells.key[cell] = key
    cells.table[slot] = cell + 1
    return np.int64(cell)


@inner
def add_move(
    moves: Moves, cells: Cells, cell: Index, rank: Index, node: Index, origin: Index, stance: Index
) -> None:
    """Have a move wait in a cell. There must be room for it."""
    number = moves.length[0]
    moves.length[0] += 1
    moves.rank[number] = rank
    moves.left[number] = moves.right[number] = NONE
    moves.node[number] = node
    moves.origin[number] = origin
    moves.stance[number] = stance
    cells.root[cell] = meld(moves, cells.root[cell], number)


@inner
def take_move(moves: Moves, cells: Cells, cell: Index) -> Index:
    """The best move that waits in a cell, taken out; NONE if there is none."""
    root = cells.root[cell]
    if root >= 0:
        cells.root[cell] = meld(moves, moves.left[root], moves.right[root])
    return np.int64(root)

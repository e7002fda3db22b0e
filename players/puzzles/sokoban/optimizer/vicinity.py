"""The vicinity of a solution: all box configurations that differ from one on its way by a few boxes nearby.

After the optimizer of JSoko (Damgaard, Meger, Marxen): the configurations are made without asking whether
pushes lead to them; the search that follows walks through those that it reaches. They are kept as a set of
64-bit hashes. Two configurations with the same hash can only cost a detour: what comes of the search is
replayed.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel

Boxes = NDArray[np.int16]
"""Squares of boxes in any order; rows of them."""


def nearest(geometry: Geometry, dead: Octets, most: int) -> Int32s:
    """The squares nearest to each, itself and dead squares left out, by the steps between them.

    Args:
        dead: uint8, shape (size + 1,): 1 on dead squares.
        most: how many of each at most.

    Returns:
        int32, shape (size, most); filled up with -1.
    """
    neighbours: list[list[int]] = geometry.neighbours.tolist()
    near = np.full((geometry.size, most), -1, np.int32)
    for square in np.flatnonzero(dead[:-1] == 0).tolist():
        seen, waiting, count = {square, geometry.size}, deque([square]), 0
        while waiting and count < most:
            for there in neighbours[waiting.popleft()]:
                if there not in seen:
                    seen.add(there)
                    waiting.append(there)
                    if not dead[there] and count < most:
                        near[square, count] = there
                        count += 1
    return near


@inner
def holds(table: Words, key: np.uint64) -> bool:
    """Whether a set of keys, open addressing in a power of two of places, 0 free, holds this one."""
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot]:
        if table[slot] == key:
            return True
        slot = (slot + np.uint64(1)) & mask
    return False


@inner
def _add(table: Words, count: Ints, key: np.uint64) -> None:
    mask = np.uint64(len(table) - 1)
    slot = key & mask
    while table[slot]:
        if table[slot] == key:
            return
        slot = (slot + np.uint64(1)) & mask
    table[slot] = key
    count[0] += 1


@inner
def _stands(boxes: Boxes, row: Index, square: Index) -> bool:
    for number in range(boxes.shape[1]):  # noqa: SIM110 (kernels know no generators)
        if boxes[row, number] == square:
            return True
    return False


@kernel
def add_vicinity(
    table: Words, count: Ints, boxes: Boxes, first: int, end: int, near: Int32s, reach: Ints, keys: Words
) -> int:
    """Add the configurations near to those in rows ``first`` up to ``end``.

    Args:
        table: uint64, a power of two of places: the set of keys; 0 is free.
        count: int64, shape (1,): how many there are in it.
        boxes: int16, shape (rows, boxes): the configurations on the way.
        near: int32, shape (size, most): see :func:`nearest`.
        reach: int64, shape (3,): ``reach[n]`` says how many of the nearest squares each box may move to when
            n + 1 boxes are moved at once; 0 for none.
        keys: uint64, shape (size + 1,): random numbers; a configuration's key is their exclusive or.

    Returns:
        the row to go on with; ``end`` when all is done, less when three quarters of the table are full.
    """
    boxes_count = boxes.shape[1]
    room = len(table) // 4 * 3
    for row in range(first, end):
        if count[0] >= room:
            return row
        base = np.uint64(0)
        for a in range(boxes_count):
            base ^= keys[boxes[row, a]]
        _add(table, count, base)
        for a in range(boxes_count):
            for n in range(reach[0]):
                x = near[boxes[row, a], n]
                if x < 0:
                    break
                if not _stands(boxes, row, x):
                    _add(table, count, base ^ keys[boxes[row, a]] ^ keys[x])
        for a in range(boxes_count if reach[1] else 0):
            for n in range(reach[1]):
                x = near[boxes[row, a], n]
                if x < 0:
                    break
                if _stands(boxes, row, x):
                    continue
                key_a = base ^ keys[boxes[row, a]] ^ keys[x]
                for b in range(a):
                    if count[0] >= room:
                        return row
                    for m in range(reach[1]):
                        y = near[boxes[row, b], m]
                        if y < 0:
                            break
                        if y == x or _stands(boxes, row, y):
                            continue
                        key_b = key_a ^ keys[boxes[row, b]] ^ keys[y]
                        _add(table, count, key_b)
                        if n >= reach[2] or m >= reach[2]:
                            continue
                        for c in range(b):
                            for k in range(reach[2]):
                                z = near[boxes[row, c], k]
                                if z < 0:
                                    break
                                if z != x and z != y and not _stands(boxes, row, z):
                                    _add(table, count, key_b ^ keys[boxes[row, c]] ^ keys[z])
    return end

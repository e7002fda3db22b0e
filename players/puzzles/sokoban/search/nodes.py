"""Positions as packed records with Zobrist hashes (Zobrist 1970), a hash table of them, and a queue of
buckets, all in flat arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import inner

Shorts = NDArray[np.uint16]

NO_NODE = -1
_BYTES_BESIDE = 8 + 4 * 4 + 3 * 2 + 8
"""Of a node beside its record: hash, links, parent, push, pushes, estimate, slots."""
BUCKETS = 1 << 12
"""Buckets of a cell."""
CELLS = 64
"""Cells, at most."""


class Nodes(NamedTuple):
    """Positions by number, in the order in which they were met.

    Attributes:
        records: uint16, shape (capacity, boxes + 1): the boxes' squares in ascending order, and the lowest
            square of the keeper's region.
        hashes: uint64, shape (capacity,).
        parents: int32, shape (capacity,): the node before; -1 for a root.
        moves: uint16, shape (capacity,): 4 times the square that the box was moved from, plus the direction.
        depths: uint16, shape (capacity,): pushes from the root.
        estimates: uint16, shape (capacity,): pushes still to make.
        keys: int32, shape (capacity,): the bucket that a node waits in, -1 for none.
        before, after: int32, shape (capacity,): neighbours in the bucket.
        heads: int32, shape (cells * buckets,): the first node of each bucket.
        lowest: int32, shape (cells,): the least bucket of each cell that may hold any.
        table: int32, shape (slots,): numbers of nodes plus 1 by hash; 0 where there is none.
    """

    records: Shorts
    hashes: Words
    parents: Int32s
    moves: Shorts
    depths: Shorts
    estimates: Shorts
    keys: Int32s
    before: Int32s
    after: Int32s
    heads: Int32s
    lowest: Int32s
    table: Int32s


def new_nodes(boxes: int, memory: int) -> Nodes:
    """Room for as many nodes as fit into so many bytes; pages are taken as they are used."""
    capacity = max(64, memory // (_BYTES_BESIDE + 8 + 2 * (boxes + 1)))
    slots = 1 << (capacity + capacity // 2).bit_length()  # loaded to two thirds at most
    return Nodes(
        np.empty((capacity, boxes + 1), np.uint16),
        np.empty(capacity, np.uint64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.uint16),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.full(CELLS * BUCKETS, NO_NODE, np.int32),
        np.full(CELLS, BUCKETS, np.int32),
        np.zeros(slots, np.int32),
    )


@inner
def hash_of(keys: Words, boxes: Shorts, count: Index, keeper: Index) -> np.uint64:
    """The hash of boxes and keeper, from scratch. ``keys``: uint64, shape (2, size + 1)."""
    value = keys[1, keeper]
    for number in range(count):
        value ^= keys[0, boxes[number]]
    return np.uint64(value)


@inner
def move_box(record: Shorts, source: Shorts, origin: Index, square: Index) -> None:
    """Write ``source`` with one box moved to ``record``, in ascending order."""
    last = len(record) - 1
    put = 0
    waiting = True
    for number in range(last):
        box = source[number]
        if box == origin:
            continue
        if waiting and box > square:
            record[put] = square
            put += 1
            waiting = False
        record[put] = box
        put += 1
    if waiting:
        record[put] = square


@inner
def find_node(table: Int32s, hashes: Words, records: Shorts, wanted: Shorts, value: np.uint64) -> Index:
    """The number of the node with this record and hash; if there is none, -1 minus the slot for it."""
    last = np.uint64(len(table) - 1)
    slot = (value ^ (value >> np.uint64(32))) & last
    while table[slot] != 0:
        number = np.int64(table[slot]) - 1
        if hashes[number] == value:
            same = True
            for place in range(len(wanted)):
                if records[number, place] != wanted[place]:
                    same = False
                    break
            if same:
                return number
        slot = (slot + np.uint64(1)) & last
    return -1 - np.int64(slot)


@inner
def link(heads: Int32s, keys: Int32s, before: Int32s, after: Int32s, node: Index, key: Index) -> None:
    """Put a node first in a bucket."""
    first = heads[key]
    keys[node] = key
    before[node] = NO_NODE
    after[node] = first
    if first >= 0:
        before[first] = node
    heads[key] = node


@inner
def unlink(heads: Int32s, keys: Int32s, before: Int32s, after: Int32s, node: Index) -> None:
    """Take a node out of its bucket."""
    if before[node] >= 0:
        after[before[node]] = after[node]
    else:
        heads[keys[node]] = after[node]
    if after[node] >= 0:
        before[after[node]] = before[node]
    keys[node] = NO_NODE

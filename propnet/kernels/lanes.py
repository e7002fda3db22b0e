"""Single lanes of vectors, and single bits of records."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Ints, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import WORDS, item, lowest_bit, put, store


@inner
def get_lane(lanes: Words, lane: Index) -> np.uint64:
    """A lane's bit, 0 or 1; lane ``512 * v + i`` is lane i of vector v of ``lanes``."""
    word: np.uint64 = item(lanes, lane >> 6)
    return (word >> np.uint64(lane & 63)) & np.uint64(1)


@inner
def set_lane(lanes: Words, lane: Index) -> None:
    """Set a lane's bit, counted as in :func:`get_lane`."""
    put(lanes, lane >> 6, item(lanes, lane >> 6) | (np.uint64(1) << np.uint64(lane & 63)))


@inner
def list_lanes(wanted: Vector, scratch: Words, lane_of: Ints) -> Index:
    """List the wanted lanes in ``lane_of`` (512,), ascending; how many they are. ``scratch`` is (1, 8)."""
    store(scratch, 0, wanted)
    count = np.int64(0)
    for word in range(WORDS):
        left = item(scratch, word)
        while left != 0:
            put(lane_of, count, 64 * word + lowest_bit(left))
            left &= left - np.uint64(1)
            count += 1
    return count


@inner
def record_mask(records: Words, row: Index, base: Index) -> np.int64:
    """-1 where a base proposition is true in a record, else 0: what to fill a vector with."""
    return -np.int64((records[row, base >> 6] >> np.uint64(base & 63)) & np.uint64(1))

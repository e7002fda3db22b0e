"""Hash tables of records: open addressing with linear probing, records compared word by word.

A table has a power of two places; a place holds the number of a record plus one, 0 if it is free.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Words
from propnet.jit.decorators import inner, kernel


@inner
def mix(h: np.uint64, word: np.uint64) -> np.uint64:
    """The hash after one more 64-bit word."""
    h = (h ^ word) * np.uint64(0x9FB21C651E98DF25)
    return h ^ (h >> np.uint64(32))


@inner
def hash_record(records: Words, row: Index, mask: Words | None = None) -> np.uint64:
    """A hash of a record, or of its bits in a mask, shape (words,). Kernels call it directly:
    an ``inner`` function between them would make numba count references to the arrays."""
    h = np.uint64(0x243F6A88)
    for w in range(records.shape[1]):
        h = mix(h, records[row, w] if mask is None else records[row, w] & mask[w])
    return h


@inner
def same_record(records: Words, number: Index, wanted: Words, row: Index, mask: Words | None = None) -> bool:
    """Whether two records are the same, or agree in the bits of a mask, shape (words,)."""
    for w in range(records.shape[1]):
        change = records[number, w] ^ wanted[row, w]
        if (change if mask is None else change & mask[w]) != 0:
            return False
    return True


@kernel(nogil=True)
def find_record(table: Int32s, records: Words, wanted: Words, row: Index) -> Index:
    """The number of the record that equals ``wanted[row]``, or minus 1 minus the free slot of the table."""
    mask = len(table) - 1
    slot = np.int64(hash_record(wanted, row) & np.uint64(mask))
    while table[slot]:
        number = np.int64(table[slot] - 1)
        if same_record(records, number, wanted, row):
            return number
        slot = (slot + 1) & mask
    return -1 - slot

"""A hash table of packed states: open addressing with linear probing, records compared word by word.

A table is an array of a power of two places; a place holds the number of a record plus one, 0 if it is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from propnet.jit.decorators import inner, kernel


@inner
def mix(h: Any, word: Any) -> Any:
    """A hash with one more 64-bit word in it."""
    h = (h ^ word) * np.uint64(0x9FB21C651E98DF25)
    return h ^ (h >> np.uint64(32))


@kernel(nogil=True)
def find_node(table: Any, records: Any, wanted: Any, row: Any) -> Any:
    """The number of the record that is ``wanted[row]``, or minus 1 minus the free slot of the table."""
    mask = len(table) - 1
    words = wanted.shape[1]
    h = np.uint64(0x243F6A88)
    for w in range(words):
        h = mix(h, wanted[row, w])
    slot = np.int64(h & np.uint64(mask))
    while table[slot]:
        node = np.int64(table[slot] - 1)
        w = 0
        while w < words and records[node, w] == wanted[row, w]:
            w += 1
        if w == words:
            return node
        slot = (slot + 1) & mask
    return -1 - slot

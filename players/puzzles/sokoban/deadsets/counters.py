"""Method C of looking sets up: membership turned round, counters of two bits (H. Marxen's csoso, 2010).

Each member has a column: a bit for each set that contains it. The counters of 64 sets are the bits of two
words, and a column is added to all of them at once (Warren, Hacker's Delight, 2002: carry-save adders).

First come ``words`` words, the members that have columns; then the columns, ``blocks`` words each.
"""

from __future__ import annotations

import numpy as np

from players.puzzles.sokoban.deadsets.tree import count_bits
from propnet.jit.arrays import Index, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item


def encode_counters(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """The columns of these sets."""
    members, column = np.unique(partners, return_inverse=True)
    column = column.reshape(partners.shape)
    number = np.arange(len(partners), dtype=np.uint64)
    columns = np.zeros((len(members), (len(partners) + 63) // 64), np.uint64)
    for place in column.T:
        np.bitwise_or.at(
            columns,
            (place, (number >> np.uint64(6)).astype(np.int64)),
            np.uint64(1) << (number & np.uint64(63)),
        )
    head = np.zeros(words, np.uint64)
    for member in members.tolist():
        head[member >> 6] |= np.uint64(1 << (member & 63))
    return np.concatenate([head, columns.reshape(-1)])


@inner
def any_counters(data: Words, offset: Index, blocks: Index, partners: Index, bits: Words) -> bool:
    """Whether a set of those at ``data[offset]`` lies within ``bits``, uint64, shape (words,). Sets have
    ``partners`` members, 1 to 4; ``blocks`` is the number of sets over 64, rounded up."""
    words = len(bits)
    columns = offset + words
    if partners == 1:
        found = np.uint64(0)
        for w in range(words):
            found |= item(data, offset + w) & item(bits, w)
        return bool(found)
    for block in range(blocks):
        low, high = np.uint64(0), np.uint64(0)
        first = columns + block
        for w in range(words):
            head = item(data, offset + w)
            left = head & item(bits, w)
            while left:
                bit = left & (~left + np.uint64(1))
                left ^= bit
                column = item(data, first + blocks * count_bits(head & (bit - np.uint64(1))))
                if partners == 2:
                    if low & column:
                        return True
                    low |= column
                elif partners == 3:
                    if high & column:
                        return True
                    high |= low & column
                    low |= column
                else:
                    if high & low & column:
                        return True
                    high ^= low & column
                    low ^= column
            first += blocks * count_bits(head)
    return False

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
def full_after(low: np.uint64, high: np.uint64, column: np.uint64, partners: Index) -> np.uint64:
    """Which counters are one short of ``partners`` and would be raised by a column."""
    if partners == 2:
        return low & column
    if partners == 3:
        return high & column
    return low & high & column


@inner
def added(low: np.uint64, high: np.uint64, column: np.uint64, partners: Index) -> tuple[np.uint64, np.uint64]:
    """The counters after a column that makes none of them full."""
    if partners == 2:
        return low | column, high
    if partners == 3:
        return low | column, high | (low & column)
    return low ^ column, high ^ (low & column)


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
    wide = blocks & ~3
    for block in range(0, wide, 4):
        if _any_of_four(data, offset, blocks, block, partners, bits):
            return True
    for block in range(wide, blocks):
        low, high = np.uint64(0), np.uint64(0)
        first = columns + block
        for w in range(words):
            head = item(data, offset + w)
            left = head & item(bits, w)
            while left:
                bit = left & (~left + np.uint64(1))
                left ^= bit
                column = item(data, first + blocks * count_bits(head & (bit - np.uint64(1))))
                if full_after(low, high, column, partners):
                    return True
                low, high = added(low, high, column, partners)
            first += blocks * count_bits(head)
    return False


@inner
def _any_of_four(
    data: Words, offset: Index, blocks: Index, block: Index, partners: Index, bits: Words
) -> bool:
    """The same for four blocks at once: columns are named once for all of them."""
    words = len(bits)
    first = offset + words + block
    low0, low1, low2, low3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    high0, high1, high2, high3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    for w in range(words):
        head = item(data, offset + w)
        left = head & item(bits, w)
        while left:
            bit = left & (~left + np.uint64(1))
            left ^= bit
            at = first + blocks * count_bits(head & (bit - np.uint64(1)))
            column0, column1 = item(data, at), item(data, at + 1)
            column2, column3 = item(data, at + 2), item(data, at + 3)
            full = full_after(low0, high0, column0, partners) | full_after(low1, high1, column1, partners)
            full |= full_after(low2, high2, column2, partners) | full_after(low3, high3, column3, partners)
            if full:
                return True
            low0, high0 = added(low0, high0, column0, partners)
            low1, high1 = added(low1, high1, column1, partners)
            low2, high2 = added(low2, high2, column2, partners)
            low3, high3 = added(low3, high3, column3, partners)
        first += blocks * count_bits(head)
    return False

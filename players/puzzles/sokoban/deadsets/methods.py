"""Three ways to check whether one of many sets lies within the boxes: a scan (A), a tree (B) and counters
(C).

**A, the scan.** Each set is a mask of ``words`` 64-bit words, side by side.

**B, the tree.** A node holds the set of possible next members, as bits, and its children side by side: the
child of a member is found by counting the lower bits (Bagwell 2001). The last members of the sets that agree
in all others are one bit set. An inner node is ``words`` words of bits and one word, the place of its first
child; the last level has no such word. Only members on which there are boxes are descended into.

**C, the counters.** The inverse index, with counters of two bits (H. Marxen's csoso, 2010). Each member has a
column: a bit for each set that contains it. The counters of 64 sets are the bits of two words, and a column
is added to all of them at once (Warren, Hacker's Delight, 2002: carry-save adders). First come ``words``
words, the members that have columns; then the columns, ``blocks`` words each.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item


def encode_linear(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """Return the masks of these sets, shape (sets * words,)."""
    masks = np.zeros((len(partners), words), np.uint64)
    for column in partners.T:
        number = column.astype(np.uint64)
        masks[np.arange(len(partners)), number >> np.uint64(6)] |= np.uint64(1) << (number & np.uint64(63))
    return masks.reshape(-1)


@inner
def any_linear(data: Words, offset: Index, count: Index, bits: Words) -> bool:
    """Return whether one of the ``count`` sets at ``data[offset]`` lies within ``bits``, uint64, shape
    (words,)."""
    words = len(bits)
    if words == 1:
        missing = ~item(bits, 0)
        number = 0
        while number < count and item(data, offset + number) & missing:
            number += 1
        return bool(number < count)
    if words == 2:
        low, high = ~item(bits, 0), ~item(bits, 1)
        for number in range(count):
            at = offset + 2 * number
            if not (item(data, at) & low) | (item(data, at + 1) & high):
                return True
        return False
    for number in range(count):
        at = offset + words * number
        outside = np.uint64(0)
        for w in range(words):
            outside |= item(data, at + w) & ~item(bits, w)
        if not outside:
            return True
    return False


_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


def encode_tree(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """Return the tree of these sets, in lexical order, at least one. Children are counted from the start of
    the tree."""
    depth = partners.shape[1]
    members = partners.astype(np.int64)
    parts = []
    place = np.zeros(1, np.int64)  # of the nodes of this level
    node = np.zeros(len(members), np.int64)  # of each set, on this level
    total = 0
    for level in range(depth):
        last = level == depth - 1
        stride = words + (0 if last else 1)
        level_rows = np.zeros((len(place), stride), np.uint64)
        column = members[:, level]
        np.bitwise_or.at(level_rows, (node, column >> 6), np.uint64(1) << (column & 63).astype(np.uint64))
        total += level_rows.size
        if not last:
            pair = node * (64 * words) + column
            children, node_of_set = np.unique(pair, return_inverse=True)
            first_child = np.searchsorted(children, np.arange(len(place)) * (64 * words))
            below = words + (0 if level == depth - 2 else 1)
            level_rows[:, words] = total + first_child * below
            node = node_of_set.reshape(-1)
            place = np.arange(len(children))
        parts.append(level_rows.reshape(-1))
    return np.concatenate(parts)


@inner
def count_bits(word: np.uint64) -> np.int64:
    """Return the number of set bits, in the form that LLVM compiles to one instruction."""
    word = word - ((word >> np.uint64(1)) & _ODD)
    word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
    word = (word + (word >> np.uint64(4))) & _NIBBLES
    return np.int64((word * _BYTES) >> np.uint64(56))


@inner
def _any_leaf(data: Words, at: Index, bits: Words) -> bool:
    """Return whether the last level's node at ``data[at]`` has a member within ``bits``."""
    found = np.uint64(0)
    for w in range(len(bits)):
        found |= item(data, at + w) & item(bits, w)
    return bool(found)


@inner
def _any_of_two(data: Words, start: Index, at: Index, bits: Words) -> bool:
    """Return the same for a node with one level below it."""
    words = len(bits)
    child = start + np.int64(item(data, at + words))
    for w in range(words):
        node = item(data, at + w)
        left = node & item(bits, w)
        while left:
            bit = left & (~left + np.uint64(1))
            left ^= bit
            if _any_leaf(data, child + words * count_bits(node & (bit - np.uint64(1))), bits):
                return True
        child += words * count_bits(node)
    return False


@inner
def _any_of_three(data: Words, start: Index, at: Index, bits: Words) -> bool:
    """Return the same for a node with two levels below it."""
    words = len(bits)
    child = start + np.int64(item(data, at + words))
    for w in range(words):
        node = item(data, at + w)
        left = node & item(bits, w)
        while left:
            bit = left & (~left + np.uint64(1))
            left ^= bit
            if _any_of_two(data, start, child + (words + 1) * count_bits(node & (bit - np.uint64(1))), bits):
                return True
        child += (words + 1) * count_bits(node)
    return False


@inner
def _any_of_four_levels(data: Words, start: Index, at: Index, bits: Words) -> bool:
    """Return the same for a node with three levels below it."""
    words = len(bits)
    child = start + np.int64(item(data, at + words))
    for w in range(words):
        node = item(data, at + w)
        left = node & item(bits, w)
        while left:
            bit = left & (~left + np.uint64(1))
            left ^= bit
            if _any_of_three(
                data, start, child + (words + 1) * count_bits(node & (bit - np.uint64(1))), bits
            ):
                return True
        child += (words + 1) * count_bits(node)
    return False


@inner
def any_tree(data: Words, offset: Index, partners: Index, bits: Words) -> bool:
    """Return whether a set of the tree at ``data[offset]`` lies within ``bits``, uint64, shape (words,). Sets
    have ``partners`` members, 1 to 4."""
    if partners == 1:
        return _any_leaf(data, offset, bits)
    if partners == 2:
        return _any_of_two(data, offset, offset, bits)
    if partners == 3:
        return _any_of_three(data, offset, offset, bits)
    return _any_of_four_levels(data, offset, offset, bits)


def encode_counters(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """Return the columns of these sets."""
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
def _full_after(low: np.uint64, high: np.uint64, column: np.uint64, partners: Index) -> np.uint64:
    """Return the counters that are one short of ``partners`` and would be raised by a column."""
    if partners == 2:
        return low & column
    if partners == 3:
        return high & column
    return low & high & column


@inner
def added(low: np.uint64, high: np.uint64, column: np.uint64, partners: Index) -> tuple[np.uint64, np.uint64]:
    """Return the counters after a column that fills none of them."""
    if partners == 2:
        return low | column, high
    if partners == 3:
        return low | column, high | (low & column)
    return low ^ column, high ^ (low & column)


@inner
def any_counters(data: Words, offset: Index, blocks: Index, partners: Index, bits: Words) -> bool:
    """Return whether one of the sets at ``data[offset]`` lies within ``bits``, uint64, shape (words,). Sets
    have ``partners`` members, 1 to 4; ``blocks`` is the number of sets over 64, rounded up."""
    words = len(bits)
    columns = offset + words
    if partners == 1:
        found = np.uint64(0)
        for w in range(words):
            found |= item(data, offset + w) & item(bits, w)
        return bool(found)
    wide = blocks & ~3
    for block in range(0, wide, 4):
        if _any_of_four_blocks(data, offset, blocks, block, partners, bits):
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
                if _full_after(low, high, column, partners):
                    return True
                low, high = added(low, high, column, partners)
            first += blocks * count_bits(head)
    return False


@inner
def _any_of_four_blocks(
    data: Words, offset: Index, blocks: Index, block: Index, partners: Index, bits: Words
) -> bool:
    """Return the same for four blocks at once: the columns are found once for all of them."""
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
            full = _full_after(low0, high0, column0, partners) | _full_after(low1, high1, column1, partners)
            full |= _full_after(low2, high2, column2, partners) | _full_after(low3, high3, column3, partners)
            if full:
                return True
            low0, high0 = added(low0, high0, column0, partners)
            low1, high1 = added(low1, high1, column1, partners)
            low2, high2 = added(low2, high2, column2, partners)
            low3, high3 = added(low3, high3, column3, partners)
        first += blocks * count_bits(head)
    return False

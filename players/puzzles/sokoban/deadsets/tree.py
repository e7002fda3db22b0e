"""Method B of looking sets up: a tree. A node holds the set of members to go on with, as bits, and its
children side by side: the child of a member is found by counting the lower bits (Bagwell 2001). The last
members of the sets that agree in all others are one bit set.

An inner node is ``words`` words of bits and one word, the place of its first child; the last level has no
such word. Only members on which there are boxes are descended into.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item

_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


def encode_tree(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """The tree of these sets, in lexical order, at least one. Children are counted from the tree's own
    start."""
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
    """How many bits are set, in the form that LLVM knows as one instruction."""
    word = word - ((word >> np.uint64(1)) & _ODD)
    word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
    word = (word + (word >> np.uint64(4))) & _NIBBLES
    return np.int64((word * _BYTES) >> np.uint64(56))


@inner
def _any_leaf(data: Words, at: Index, bits: Words) -> bool:
    """Whether the last level's node at ``data[at]`` has a member within ``bits``."""
    found = np.uint64(0)
    for w in range(len(bits)):
        found |= item(data, at + w) & item(bits, w)
    return bool(found)


@inner
def _any_of_two(data: Words, start: Index, at: Index, bits: Words) -> bool:
    """The same for a node with one level below it."""
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
    """The same for a node with two levels below it."""
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
def _any_of_four(data: Words, start: Index, at: Index, bits: Words) -> bool:
    """The same for a node with three levels below it."""
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
    """Whether a set of the tree at ``data[offset]`` lies within ``bits``, uint64, shape (words,). Sets have
    ``partners`` members, 1 to 4."""
    if partners == 1:
        return _any_leaf(data, offset, bits)
    if partners == 2:
        return _any_of_two(data, offset, offset, bits)
    if partners == 3:
        return _any_of_three(data, offset, offset, bits)
    return _any_of_four(data, offset, offset, bits)

"""`DeadSets`: the dead sets of one geometry, generated within budgets of time and memory, then frozen for one
query: does any of them lie within the boxes, one of which has just moved?

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("#######", "#     #", "# $$  #", "#  ...#", "#@ $  #", "#######")))
>>> sets = make_dead_sets(geometry)
>>> sets.sizes
(2, 3)

Each slot has the fastest of three lookups: a scan (A), a tree (B) or counters (C).

**A, the scan.** Each set is a mask of ``words`` 64-bit words, side by side.

**B, the tree.** A node holds the set of possible next members, as bits, and its children side by side: the
child of a member is found by counting the lower bits (Bagwell 2001). The last members of the sets that agree
in all others are one bit set. An inner node is ``words`` words of bits and one word, the place of its first
child; the last level has no such word. Only members on which there are boxes are descended into.

**C, the counters.** The inverse index, with counters of two bits (H. Marxen's csoso, 2010). Each member has a
column: a bit for each set that contains it. The counters of 64 sets are the bits of two words, and a column
is _added to all of them at once (Warren, Hacker's Delight, 2002: carry-save adders). First come ``words``
words, the members that have columns; then the columns, ``blocks`` words each.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.deadsets.alive import alive_pairs, alive_sets, bytes_needed
from players.puzzles.sokoban.deadsets.minimal import Family, box_family, player_family
from players.puzzles.sokoban.deadsets.squares import MOST, BoxSquares, number_squares
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item


def _encode_linear(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """Return the masks of these sets, shape (sets * words,)."""
    masks = np.zeros((len(partners), words), np.uint64)
    for column in partners.T:
        number = column.astype(np.uint64)
        masks[np.arange(len(partners)), number >> np.uint64(6)] |= np.uint64(1) << (number & np.uint64(63))
    return masks.reshape(-1)


@inner
def _any_linear(data: Words, offset: Index, count: Index, bits: Words) -> bool:
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


def _encode_tree(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
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
def _count_bits(word: np.uint64) -> np.int64:
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
            if _any_leaf(data, child + words * _count_bits(node & (bit - np.uint64(1))), bits):
                return True
        child += words * _count_bits(node)
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
            if _any_of_two(data, start, child + (words + 1) * _count_bits(node & (bit - np.uint64(1))), bits):
                return True
        child += (words + 1) * _count_bits(node)
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
                data, start, child + (words + 1) * _count_bits(node & (bit - np.uint64(1))), bits
            ):
                return True
        child += (words + 1) * _count_bits(node)
    return False


@inner
def _any_tree(data: Words, offset: Index, partners: Index, bits: Words) -> bool:
    """Return whether a set of the tree at ``data[offset]`` lies within ``bits``, uint64, shape (words,). Sets
    have ``partners`` members, 1 to 4."""
    if partners == 1:
        return _any_leaf(data, offset, bits)
    if partners == 2:
        return _any_of_two(data, offset, offset, bits)
    if partners == 3:
        return _any_of_three(data, offset, offset, bits)
    return _any_of_four_levels(data, offset, offset, bits)


def _encode_counters(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
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
def _added(
    low: np.uint64, high: np.uint64, column: np.uint64, partners: Index
) -> tuple[np.uint64, np.uint64]:
    """Return the counters after a column that fills none of them."""
    if partners == 2:
        return low | column, high
    if partners == 3:
        return low | column, high | (low & column)
    return low ^ column, high ^ (low & column)


@inner
def _any_counters(data: Words, offset: Index, blocks: Index, partners: Index, bits: Words) -> bool:
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
                column = item(data, first + blocks * _count_bits(head & (bit - np.uint64(1))))
                if _full_after(low, high, column, partners):
                    return True
                low, high = _added(low, high, column, partners)
            first += blocks * _count_bits(head)
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
            at = first + blocks * _count_bits(head & (bit - np.uint64(1)))
            column0, column1 = item(data, at), item(data, at + 1)
            column2, column3 = item(data, at + 2), item(data, at + 3)
            full = _full_after(low0, high0, column0, partners) | _full_after(low1, high1, column1, partners)
            full |= _full_after(low2, high2, column2, partners) | _full_after(low3, high3, column3, partners)
            if full:
                return True
            low0, high0 = _added(low0, high0, column0, partners)
            low1, high1 = _added(low1, high1, column1, partners)
            low2, high2 = _added(low2, high2, column2, partners)
            low3, high3 = _added(low3, high3, column3, partners)
        first += blocks * _count_bits(head)
    return False


_EMPTY, LINEAR, TREE, COUNTERS = range(4)
"""The lookup method of a slot's sets; an empty slot has none."""


class Lookup(NamedTuple):
    """Frozen dead sets, for kernels.

    Attributes:
        numbers: int32, shape (size + 1,): the number of each square of the geometry, -1 on dead squares.
        dead_sides: uint8, shape (n,): bit d is set if a lone box is lost with the keeper on its neighbour in
            direction d.
        heads: int64, shape (slots, MOST - 1): for each slot and sets of 2, 3, ... boxes the start of its data
            times 2**28, plus the number of sets (for COUNTERS: of blocks of 64) times 4, plus the method; 0
            if there are no sets.
        data: uint64: the data of the methods.
    """

    numbers: Int32s
    dead_sides: Octets
    heads: Ints
    data: Words


def _choose_method(sets: int, partners: int, words: int, boxes: int) -> int:
    """Return the fastest method for a slot with ``sets`` sets, as measured (docs/measurements.md)."""
    if partners == 1:
        return LINEAR if sets * words <= 8 else TREE
    # The approximate cost of a tree, in words: its visited nodes grow with each level of boxes.
    if sets * words <= 16 + (boxes, boxes**2 // 6, boxes**3 // 30)[partners - 2]:
        return LINEAR
    return COUNTERS if partners == 4 and sets <= max(64, 12 * boxes) else TREE


def freeze(
    squares: BoxSquares, families: Mapping[int, Family], slots: int, boxes: int, method: int | None = None
) -> Lookup:
    """Return the lookup of these families, by K. ``boxes`` is the expected number of boxes. ``method``
    overrides the fastest method in all slots."""
    heads = np.zeros((slots, MOST - 1), np.int64)
    parts: list[Words] = []
    total = 0
    words = squares.words
    for size, family in families.items():
        for slot in range(slots):
            partners = family.partners[family.starts[slot] : family.starts[slot + 1]]
            count = len(partners)
            if not count:
                continue
            way = method if method is not None else _choose_method(count, size - 1, words, boxes)
            encode = {LINEAR: _encode_linear, TREE: _encode_tree, COUNTERS: _encode_counters}[way]
            entries = (count + 63) // 64 if way == COUNTERS else count
            heads[slot, size - 2] = total << 28 | entries << 2 | way
            parts.append(encode(partners, words))
            total += len(parts[-1])
    data = np.concatenate(parts) if parts else np.zeros(1, np.uint64)
    return Lookup(squares.numbers, squares.dead_sides, heads, data)


@inner
def any_within(heads: Ints, data: Words, slot: Index, bits: Words) -> bool:
    """Return whether a set of this slot lies within ``bits``, uint64, shape (words,), the boxes by their
    numbers."""
    for partners in range(1, MOST):
        head = item(heads, slot * (MOST - 1) + partners - 1)
        if not head:
            continue
        method, count, offset = head & 3, head >> 2 & 0x3FFFFFF, head >> 28
        if method == TREE:
            if _any_tree(data, offset, partners, bits):
                return True
        elif method == LINEAR:
            if _any_linear(data, offset, count, bits):
                return True
        elif _any_counters(data, offset, count, partners, bits):
            return True
    return False


@inner
def dead_after_push(lookup: Lookup, bits: Words, square: Index, direction: Index) -> bool:
    """Return whether a box just pushed to ``square``, in this direction, makes a known dead set.

    ``lookup`` is for keeper sides (:attr:`DeadSets.lookup`); ``bits``: uint64, shape (words,),
    the boxes after the push (:func:`set_box`).
    """
    number = np.int64(lookup.numbers[square])
    if number < 0:
        return True
    side = direction ^ 2
    if lookup.dead_sides[number] >> side & 1:
        return True
    return any_within(lookup.heads, lookup.data, 4 * number + side, bits)


@inner
def set_box(lookup: Lookup, bits: Words, square: Index) -> None:
    """Record a box on a square of the geometry. On a dead square nothing is recorded."""
    number = np.int64(lookup.numbers[square])
    if number >= 0:
        bits[number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@inner
def clear_box(lookup: Lookup, bits: Words, square: Index) -> None:
    """Record that a square no longer has a box."""
    number = np.int64(lookup.numbers[square])
    if number >= 0:
        bits[number >> 6] &= ~(np.uint64(1) << np.uint64(number & 63))


@dataclass(frozen=True, slots=True, eq=False)
class DeadSets:
    """The minimal dead sets of a geometry: they hold for all positions on it.

    Attributes:
        geometry: walls and goals.
        squares: the numbering of the squares that boxes may stand on.
        families: by K: in slots 4 p + d, for box p and the keeper on its neighbour in direction d.
        box_families: by K: sets that are dead for every place of the keeper, in slots p.
        lookup: ``families``, frozen for kernels.
        sizes: the complete sizes K.
    """

    geometry: Geometry
    squares: BoxSquares
    families: dict[int, Family]
    box_families: dict[int, Family]
    lookup: Lookup
    sizes: tuple[int, ...]

    def box_sets(self) -> Iterator[tuple[int, ...]]:
        """Yield the minimal sets that are dead for every place of the keeper, as ascending squares of the
        geometry; small sets first."""
        squares = self.squares.squares.tolist()
        for _, family in sorted(self.box_families.items()):
            for slot, (start, end) in enumerate(
                zip(family.starts[:-1].tolist(), family.starts[1:].tolist(), strict=True)
            ):
                for partners in family.partners[start:end].tolist():
                    if slot < partners[0]:
                        yield tuple(squares[number] for number in (slot, *partners))


_MOST_SQUARES = 600
"""On larger maps there are too many pairs: time and memory grow with the square of the number of squares."""


def make_dead_sets(
    geometry: Geometry, most: int = 3, seconds: float = 2.0, memory: int = 300_000_000
) -> DeadSets:
    """Generate and freeze the dead sets of a geometry.

    Args:
        most: the largest K, at most 5; there are never more boxes than goals.
        seconds: CPU time of this thread for all of it; a K that takes longer is left out.
        memory: about the most bytes; a K that would take more is left out.
    """
    deadline = time.thread_time() + seconds
    squares = number_squares(geometry)
    families: dict[int, Family] = {}
    box_families: dict[int, Family] = {}
    smaller: Words | None = None
    for size in range(2, min(most, MOST, len(geometry.goals)) + 1):
        alive: Words | None
        if size == 2:
            if len(squares.squares) > _MOST_SQUARES:
                break
            alive = alive_pairs(squares)
        elif bytes_needed(squares, size) > memory:
            break
        else:
            alive = alive_sets(squares, size, deadline)
        if alive is None:
            break
        families[size] = player_family(squares, size, alive, smaller)
        box_families[size] = box_family(squares, size, alive, smaller)
        smaller = alive
    n, boxes = len(squares.squares), len(geometry.goals)
    return DeadSets(
        geometry,
        squares,
        families,
        box_families,
        freeze(squares, families, 4 * n, boxes),
        tuple(families),
    )

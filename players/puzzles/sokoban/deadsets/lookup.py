"""The third phase: dead sets frozen for one question, whether any lies within the boxes, one of which has
just been moved. Each slot is looked up in the way that is fastest for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.deadsets.methods import (
    any_counters,
    any_linear,
    any_tree,
    encode_counters,
    encode_linear,
    encode_tree,
)
from players.puzzles.sokoban.deadsets.minimal import Family
from players.puzzles.sokoban.deadsets.squares import MOST, BoxSquares
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item

EMPTY, LINEAR, TREE, COUNTERS = range(4)
"""How a slot's sets are looked up; an empty slot has none."""


class Lookup(NamedTuple):
    """Frozen dead sets, for kernels.

    Attributes:
        numbers: int32, shape (size + 1,): the number of each square of the geometry, -1 on dead squares.
        dead_sides: uint8, shape (n,): bit d is set where a lone box is lost by the keeper on its neighbour in
            direction d.
        heads: int64, shape (slots, MOST - 1): for each slot and sets of 2, 3, ... boxes where its data begin,
            times 2**28, plus how many sets (of COUNTERS: how many blocks of 64) there are, times 4, plus the
            method; 0 where there are none.
        data: uint64: what the methods need.
    """

    numbers: Int32s
    dead_sides: Octets
    heads: Ints
    data: Words


def choose_method(sets: int, partners: int, words: int, boxes: int) -> int:
    """The fastest method for a slot with so many sets, by what was measured (docs/measurements.md)."""
    if partners == 1:
        return LINEAR if sets * words <= 8 else TREE
    # About what a tree costs, in words: its visited nodes grow with each level of boxes.
    if sets * words <= 16 + (boxes, boxes**2 // 6, boxes**3 // 30)[partners - 2]:
        return LINEAR
    return COUNTERS if partners == 4 and sets <= max(64, 12 * boxes) else TREE


def freeze(
    squares: BoxSquares, families: Mapping[int, Family], slots: int, boxes: int, method: int | None = None
) -> Lookup:
    """The lookup of these families, by K. ``boxes`` is how many there will be, about; ``method`` is for all
    slots instead of the fastest."""
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
            way = method if method is not None else choose_method(count, size - 1, words, boxes)
            encode = {LINEAR: encode_linear, TREE: encode_tree, COUNTERS: encode_counters}[way]
            entries = (count + 63) // 64 if way == COUNTERS else count
            heads[slot, size - 2] = total << 28 | entries << 2 | way
            parts.append(encode(partners, words))
            total += len(parts[-1])
    data = np.concatenate(parts) if parts else np.zeros(1, np.uint64)
    return Lookup(squares.numbers, squares.dead_sides, heads, data)


@inner
def any_within(heads: Ints, data: Words, slot: Index, bits: Words) -> bool:
    """Whether a set of this slot lies within ``bits``, uint64, shape (words,), the boxes by their numbers."""
    for partners in range(1, MOST):
        head = item(heads, slot * (MOST - 1) + partners - 1)
        if not head:
            continue
        method, count, offset = head & 3, head >> 2 & 0x3FFFFFF, head >> 28
        if method == TREE:
            if any_tree(data, offset, partners, bits):
                return True
        elif method == LINEAR:
            if any_linear(data, offset, count, bits):
                return True
        elif any_counters(data, offset, count, partners, bits):
            return True
    return False


@inner
def dead_after_push(lookup: Lookup, bits: Words, square: Index, direction: Index) -> bool:
    """Whether a box that has just been pushed to ``square``, in this direction, makes a known dead set.

    ``lookup`` is for keeper sides (:attr:`~.dead_sets.DeadSets.lookup`); ``bits``: uint64, shape (words,),
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
def dead_with_box(lookup: Lookup, bits: Words, square: Index) -> bool:
    """Whether a box on ``square`` is part of a set that is dead wherever the keeper is. ``lookup`` is for
    boxes alone (:attr:`~.dead_sets.DeadSets.box_lookup`)."""
    number = np.int64(lookup.numbers[square])
    if number < 0:
        return True
    return any_within(lookup.heads, lookup.data, number, bits)


@inner
def set_box(lookup: Lookup, bits: Words, square: Index) -> None:
    """Note a box on a square of the geometry. On a dead square nothing is noted."""
    number = np.int64(lookup.numbers[square])
    if number >= 0:
        bits[number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@inner
def clear_box(lookup: Lookup, bits: Words, square: Index) -> None:
    """Note that no box is on a square any more."""
    number = np.int64(lookup.numbers[square])
    if number >= 0:
        bits[number >> 6] &= ~(np.uint64(1) << np.uint64(number & 63))

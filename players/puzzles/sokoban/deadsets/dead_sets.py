"""`DeadSets`: the dead sets of one geometry, generated within budgets of time and memory, then frozen for one
query: does any of them lie within the boxes, one of which has just moved? Each slot has the lookup method
that is fastest for it (:mod:`players.puzzles.sokoban.deadsets.methods`).

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("#######", "#     #", "# $$  #", "#  ...#", "#@ $  #", "#######")))
>>> sets = make_dead_sets(geometry)
>>> sets.sizes
(2, 3)
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.deadsets.larger import alive_sets, bytes_needed
from players.puzzles.sokoban.deadsets.methods import (
    any_counters,
    any_linear,
    any_tree,
    encode_counters,
    encode_linear,
    encode_tree,
)
from players.puzzles.sokoban.deadsets.minimal import Family, box_family, player_family
from players.puzzles.sokoban.deadsets.pairs import alive_pairs
from players.puzzles.sokoban.deadsets.squares import MOST, BoxSquares, number_squares
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item

EMPTY, LINEAR, TREE, COUNTERS = range(4)
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
            encode = {LINEAR: encode_linear, TREE: encode_tree, COUNTERS: encode_counters}[way]
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

"""`DeadSets`: all three phases for one geometry, within budgets of time and memory.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("#######", "#     #", "# $$  #", "#  ...#", "#@ $  #", "#######")))
>>> sets = make_dead_sets(geometry)
>>> sets.sizes
(2, 3)
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from players.puzzles.sokoban.deadsets.larger import alive_sets, bytes_needed
from players.puzzles.sokoban.deadsets.lookup import (
    Lookup,
    any_within,
    dead_after_push,
    freeze,
)
from players.puzzles.sokoban.deadsets.minimal import Family, box_family, player_family
from players.puzzles.sokoban.deadsets.pairs import alive_pairs
from players.puzzles.sokoban.deadsets.squares import MOST, BoxSquares, number_squares
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Index, Words
from propnet.jit.decorators import kernel


@dataclass(frozen=True, slots=True, eq=False)
class DeadSets:
    """The minimal dead sets of a geometry: they hold for all positions on it.

    Attributes:
        geometry: walls and goals.
        squares: the numbering of the squares that boxes may stand on.
        families: by K: in slots 4 p + d, box p and the keeper on its neighbour in direction d.
        box_families: by K: sets that are dead wherever the keeper is, in slots p.
        lookup, box_lookup: both, frozen for kernels.
        sizes: the K that are complete.
    """

    geometry: Geometry
    squares: BoxSquares
    families: dict[int, Family]
    box_families: dict[int, Family]
    lookup: Lookup
    box_lookup: Lookup
    sizes: tuple[int, ...]

    def bits(self, position: Position) -> Words:
        """The boxes of a position as kernels take them: uint64, shape (words,). Boxes on dead squares are
        left out."""
        bits = np.zeros(self.squares.words, np.uint64)
        for number in self.squares.numbers[list(position.boxes)].tolist():
            if number >= 0:
                bits[number >> 6] |= np.uint64(1 << (number & 63))
        return bits

    def dead_after_push(self, position: Position, square: int, direction: int) -> bool:
        """Whether the box on ``square``, just pushed there in this direction, makes a known dead set with the
        others of the position."""
        return bool(_dead_after_push(self.lookup, self.bits(position), square, direction))

    def is_dead(self, position: Position) -> bool:
        """Whether any set known to be dead wherever the keeper is lies within a position."""
        numbers = self.squares.numbers[list(position.boxes)]
        if (numbers < 0).any():
            return True
        return bool(_is_dead(self.box_lookup, self.bits(position), numbers))

    def box_sets(self) -> Iterator[tuple[int, ...]]:
        """The minimal sets that are dead wherever the keeper is, as squares of the geometry, ascending; small
        sets first."""
        squares = self.squares.squares.tolist()
        for _, family in sorted(self.box_families.items()):
            for slot, (start, end) in enumerate(
                zip(family.starts[:-1].tolist(), family.starts[1:].tolist(), strict=True)
            ):
                for partners in family.partners[start:end].tolist():
                    if slot < partners[0]:
                        yield tuple(squares[number] for number in (slot, *partners))


_MOST_SQUARES = 600
"""Squares for boxes on larger maps have too many pairs: time and memory grow with their number squared."""


def make_dead_sets(
    geometry: Geometry, most: int = 3, seconds: float = 2.0, memory: int = 300_000_000
) -> DeadSets:
    """Generate and freeze the dead sets of a geometry.

    Args:
        most: the largest K, at most 5; there are never more boxes than goals.
        seconds: CPU time of this thread for all of it; a K that takes longer is left out.
        memory: bytes, about; a K that would take more is left out.
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
        freeze(squares, box_families, n, boxes),
        tuple(families),
    )


@kernel
def _dead_after_push(lookup: Lookup, bits: Words, square: Index, direction: Index) -> bool:
    return dead_after_push(lookup, bits, square, direction)


@kernel
def _is_dead(lookup: Lookup, bits: Words, numbers: Words) -> bool:
    dead = False
    for number in numbers:
        dead = dead or any_within(lookup.heads, lookup.data, number, bits)
    return dead

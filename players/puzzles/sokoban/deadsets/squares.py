"""A compact numbering of the squares on which boxes may stand, and of sets of these squares by the
combinatorial number system (D. H. Lehmer 1964).

A set of squares a < b < c < ... has the number choose(a, 1) + choose(b, 2) + choose(c, 3) + ..., so that sets
of K out of n squares have the numbers from 0 to choose(n, K) - 1 without gaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.distances import dead_sides, dead_squares
from players.puzzles.sokoban.geometry import Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Octets
from propnet.jit.decorators import inner

MOST = 5
"""The largest sets that are generated."""


class BoxSquares(NamedTuple):
    """The n squares from which a lone box can reach a goal, numbered from 0.

    Attributes:
        squares: int32, shape (n,), ascending: the geometry's square of each number.
        numbers: int32, shape (size + 1,): the number of each square of the geometry, -1 on dead squares.
        neighbours: int32, shape (size + 1, 4), of the geometry.
        dead_sides: uint8, shape (n,): bit d is set if a lone box is lost when the keeper is on its neighbour
            in direction d (or cannot be there).
        goals: int32, shape (goals,), ascending: the numbers of the goals.
        choose: int64, shape (n + 1, MOST + 1): binomial coefficients.
    """

    squares: Int32s
    numbers: Int32s
    neighbours: Int32s
    dead_sides: Octets
    goals: Int32s
    choose: Ints

    @property
    def words(self) -> int:
        """The number of 64-bit words of a set of these squares."""
        return max(1, (len(self.squares) + 63) // 64)


def number_squares(geometry: Geometry) -> BoxSquares:
    """Return the squares of a geometry on which boxes may stand."""
    size = geometry.size
    squares = np.flatnonzero(dead_squares(geometry)[:size] == 0).astype(np.int32)
    numbers = np.full(size + 1, -1, np.int32)
    numbers[squares] = np.arange(len(squares))
    choose = np.zeros((len(squares) + 1, MOST + 1), np.int64)
    choose[:, 0] = 1
    for n in range(1, len(squares) + 1):
        choose[n, 1:] = choose[n - 1, 1:] + choose[n - 1, :-1]
    return BoxSquares(
        squares,
        numbers,
        np.ascontiguousarray(geometry.neighbours, np.int32),
        dead_sides(geometry)[squares],
        numbers[geometry.goals],
        choose,
    )


@inner
def rank(choose: Ints, members: Ints, count: Index) -> Index:
    """Return the number of the set ``members[:count]``, which is in ascending order."""
    number = np.int64(0)
    for i in range(count):
        number += choose[members[i], i + 1]
    return number


@inner
def unrank(choose: Ints, number: Index, count: Index, members: Ints) -> None:
    """Fill ``members[:count]`` with the set of this number, in ascending order."""
    top = np.int64(len(choose) - 1)
    for i in range(count, 0, -1):
        low, high = np.int64(i - 1), top - 1  # the largest member with choose[member, i] <= number
        while low < high:
            middle = (low + high + 1) >> 1
            if choose[middle, i] <= number:
                low = middle
            else:
                high = middle - 1
        members[i - 1] = low
        number -= choose[low, i]
        top = low


@inner
def exchange(members: Ints, count: Index, place: Index, new: Index, out: Ints) -> Index:
    """Fill ``out[:count]`` with the set in which ``members[place]`` is replaced by ``new``, in ascending
    order. Returns the place of ``new`` in it."""
    at = np.int64(0)
    found = False
    where = np.int64(0)
    for i in range(count):
        if i == place:
            continue
        if not found and members[i] > new:
            out[at] = new
            where = at
            at += 1
            found = True
        out[at] = members[i]
        at += 1
    if not found:
        out[at] = new
        where = at
    return where

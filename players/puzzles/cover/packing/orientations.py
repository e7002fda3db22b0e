"""The ways a shape can lie, and the symmetries of what is to be filled.

Cells in their normal form (`CellGrid.settled`) compare as arrays: two isometries give the same orientation
if and only if these are equal, colours included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids.grid import CellGrid, Cells
from players.puzzles.cover.packing.shape import CellShape


@dataclass(frozen=True, eq=False, slots=True)
class Orientation:
    """A shape after an isometry, in normal form.

    Attributes:
        number: of the isometry, among the grid's matrices.
        cells: int64[cells, 3], ascending, the first at its representative.
        colours: int64[cells], of these cells.
        origin: int64[cells]: the shape's own number of each of these cells.
    """

    number: int
    cells: Cells
    colours: NDArray[np.int64]
    origin: NDArray[np.int64]

    @property
    def key(self) -> bytes:
        """Equal if and only if the orientations are."""
        return self.cells.tobytes() + self.colours.tobytes()


def orientation(grid: CellGrid, shape: CellShape, number: int) -> Orientation | None:
    """A shape after one isometry; None where it fits the grid no more."""
    turned = grid.turned(shape.cells, number)
    if turned is None:
        return None
    cells, order = grid.settled(turned)
    return Orientation(number, cells, shape.colours[order], order)


def orientations(grid: CellGrid, shape: CellShape, numbers: Iterable[int] | None = None) -> list[Orientation]:
    """All different ways a shape can lie after these isometries (None: all rotations), each by the first of
    them that gives it."""
    found: dict[bytes, Orientation] = {}
    for number in range(grid.rotations) if numbers is None else numbers:
        way = orientation(grid, shape, number)
        if way is not None:
            found.setdefault(way.key, way)
    return list(found.values())


def symmetries(grid: CellGrid, shape: CellShape) -> NDArray[np.int64]:
    """The isometries that map a shape to itself, as permutations of its cells: int64[symmetries, cells].

    Cell c goes to [s, c]; the identity comes first. Fixed, variable and coloured cells go to their like. It
    is a group, each permutation once.
    """
    size = len(shape)
    home = orientation(grid, shape, 0)
    assert home is not None
    found = {tuple(range(size)): None}
    for number in range(1, len(grid.matrices)):
        way = orientation(grid, shape, number)
        if (
            way is not None
            and way.key == home.key
            and (shape.fixed[way.origin] == shape.fixed[home.origin]).all()
        ):
            permutation = np.empty(size, np.int64)
            permutation[way.origin] = home.origin
            found.setdefault(tuple(permutation.tolist()))
    permutations = np.array(list(found), np.int64)
    return permutations if grid.closed else _closure(permutations)


def _closure(permutations: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group these permutations generate."""
    known = dict.fromkeys(map(tuple, permutations.tolist()))
    fresh = list(permutations)
    while fresh:
        last, fresh = fresh, []
        for member in last:
            for product in permutations[:, member]:
                if tuple(product.tolist()) not in known:
                    known[tuple(product.tolist())] = None
                    fresh.append(product)
    return np.array(list(known), np.int64)

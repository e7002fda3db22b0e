"""Spheres in cubic close packing: the triples whose sum is even."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids.grid import (
    CellGrid,
    Cells,
    beside,
    cube_rotations,
    steps_of_length,
    with_reflections,
)


def _rotations() -> NDArray[np.int64]:
    """The cube's rotations, and all products of them with a sixth turn about a diagonal; over 3.

    A sixth turn about a diagonal does not map the packing to itself, yet flat pieces, which lie in one
    layer of it, fit again after it: 96 more ways to lie, 120 in all. They are no group.
    """
    cube = cube_rotations()[:24]
    sixth = np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]], np.int64)
    products = (cube[:, None] @ sixth @ cube[None]).reshape(-1, 9)
    twisted = np.unique(products, axis=0).reshape(-1, 3, 3)
    return with_reflections(np.concatenate([3 * cube, twisted]))


class SphereGrid(CellGrid):
    """Spheres that touch twelve others each."""

    name = "spheres"
    matrices = _rotations()
    denominator = 3
    closed = False

    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        even: NDArray[np.bool_] = cells.sum(axis=1) % 2 == 0
        return even

    def centres(self, cells: Cells) -> Cells:
        return cells - cells[:1]

    def at_centres(self, centres: Cells) -> Cells:
        return centres

    def homes(self, cells: Cells) -> Cells:
        return cells

    def turned(self, cells: Cells, number: int) -> Cells | None:
        thirds = self.centres(cells) @ self.matrices[number].T
        if (thirds % 3).any():
            return None
        turned = thirds // 3
        return turned if self.valid(turned).all() else None

    def neighbours(self, cell: tuple[int, int, int]) -> Cells:
        return beside(cell, steps_of_length(2), self)

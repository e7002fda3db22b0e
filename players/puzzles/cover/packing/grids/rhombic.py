"""Rhombic tetrahedra: each cube cut into 24 by its six planes of diagonals.

A cube is 5 x 5 x 5 triples. A cell of it lies at a face, beside one of its edges: one coordinate is 0 or 4
(the face), one 1 or 3 (the edge), one 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids.grid import CellGrid, Cells, beside, cube_rotations, steps_of_length


class RhombicGrid(CellGrid):
    """The 24 tetrahedra of each cube; whole cubes are the translations."""

    name = "rhombic"
    matrices = cube_rotations()

    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        depths = np.sort(np.abs(cells % 5 - 2), axis=1)
        valid: NDArray[np.bool_] = (depths == [0, 1, 2]).all(axis=1)
        return valid

    def centres(self, cells: Cells) -> Cells:
        return cells - 2

    def at_centres(self, centres: Cells) -> Cells:
        return centres + 2

    def homes(self, cells: Cells) -> Cells:
        return cells // 5 * 5

    def neighbours(self, cell: tuple[int, int, int]) -> Cells:
        return beside(cell, steps_of_length(1, 2), self)

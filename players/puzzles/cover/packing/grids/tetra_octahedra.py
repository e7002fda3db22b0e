"""Tetrahedra and octahedra that fill space: each cube a tetrahedron, and four corners that are eighths.

A cube is 3 x 3 x 3 triples: its tetrahedron is (1, 1, 1), its corners are four that alternate. From cube to
cube they change places, as the colours of a chessboard.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids.grid import CellGrid, Cells, beside, cube_rotations, steps_of_length


class TetraOctahedraGrid(CellGrid):
    """A tetrahedron and four eighths of octahedra a cube; translations keep the chessboard's colours."""

    name = "tetra-octahedra"
    matrices = cube_rotations()

    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        place = cells % 3
        inside = (place == 1).all(axis=1)
        corner = (place != 1).all(axis=1)
        highs = (place == 2).sum(axis=1)
        valid: NDArray[np.bool_] = inside | (corner & ((highs + (cells // 3).sum(axis=1)) % 2 == 1))
        return valid

    def centres(self, cells: Cells) -> Cells:
        return 2 * cells - 5

    def at_centres(self, centres: Cells) -> Cells:
        return (centres + 5) // 2

    def homes(self, cells: Cells) -> Cells:
        x, y, z = cells.T // 3
        x = x - (x + y + z) % 2
        found: Cells = np.stack([3 * x, 3 * y, 3 * z], axis=1)
        return found

    def neighbours(self, cell: tuple[int, int, int]) -> Cells:
        near = beside(cell, steps_of_length(1, 3), self)
        middle = (np.array(cell) % 3 == 1).all() | (near % 3 == 1).all(axis=1)
        found: Cells = near[middle | (np.abs(near - np.array(cell)).sum(axis=1) == 1)]
        return found

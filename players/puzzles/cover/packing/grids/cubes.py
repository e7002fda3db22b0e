"""Cubes: the grid of pentominoes, Soma and burrs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids.grid import CellGrid, Cells, beside, cube_rotations, steps_of_length


class CubeGrid(CellGrid):
    """Unit cubes: every triple is a cell, every integer step a translation."""

    name = "cubes"
    matrices = cube_rotations()

    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        return np.ones(len(cells), np.bool_)

    def centres(self, cells: Cells) -> Cells:
        return cells

    def at_centres(self, centres: Cells) -> Cells:
        return centres

    def homes(self, cells: Cells) -> Cells:
        return cells

    def neighbours(self, cell: tuple[int, int, int]) -> Cells:
        return beside(cell, steps_of_length(1), self)

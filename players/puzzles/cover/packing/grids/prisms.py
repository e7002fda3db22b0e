"""Triangular prisms: layers of triangles, pointing up where x + y is even and down where it is odd."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.grids.grid import CellGrid, Cells, with_reflections


def _rotations() -> NDArray[np.int64]:
    """Sixth turns about z, then those after a half turn about y; over 2.

    On halves of an edge along x, and thirds of a triangle's height along y, a sixth turn is rational.
    """
    sixth = np.array([[1, -1, 0], [3, 1, 0], [0, 0, 2]], np.int64)
    turn = np.diag([2, 2, 2]).astype(np.int64)
    turns = []
    for _ in range(6):
        turns.append(turn)
        turn = sixth @ turn // 2
    return with_reflections(np.array(turns + [turn @ np.diag([-1, 1, -1]) for turn in turns]))


class PrismGrid(CellGrid):
    """Prisms over equilateral triangles. Steps that keep the parity of x + y are translations."""

    name = "prisms"
    matrices = _rotations()
    denominator = 2

    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        return np.ones(len(cells), np.bool_)

    def centres(self, cells: Cells) -> Cells:
        x, y, z = cells.T
        return np.stack([x + 1, 3 * y + 1 + ((x + y) & 1), z], axis=1)

    def at_centres(self, centres: Cells) -> Cells:
        x, y, z = centres.T
        return np.stack([x - 1, y // 3, z], axis=1)

    def homes(self, cells: Cells) -> Cells:
        x, y, z = cells.T
        return np.stack([x - ((x + y) & 1), y, z], axis=1)

    def neighbours(self, cell: tuple[int, int, int]) -> Cells:
        base = 1 if (cell[0] + cell[1]) & 1 else -1
        steps = [[-1, 0, 0], [1, 0, 0], [0, base, 0], [0, 0, -1], [0, 0, 1]]
        return np.array(cell, np.int64) + np.array(steps, np.int64)

"""`CellGrid`: the cells of space, and the isometries that map cells to cells.

A cell is an integer triple, as in BurrTools' files (A. Röver), so that its puzzles can be read. An isometry
is an integer matrix over a denominator, which acts on the cells' centres in coordinates of the grid's own
where that is exact; what it leaves open, a translation, is settled by a normal form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]
"""int64[cells, 3]."""


class CellGrid(ABC):
    """Cells in space, with their translations, rotations and mirrors.

    Attributes:
        name: by which people ask for it.
        matrices: int64[2 * rotations, 3, 3], over the denominator: the rotations, the identity first, then
            each of them after a reflection of the first axis. Numbered as in BurrTools' files, but for the
            spheres.
        rotations: how many of them are rotations.
        denominator: by which they are divided.
        closed: whether they are a group.
    """

    name: ClassVar[str]
    matrices: ClassVar[NDArray[np.int64]]
    denominator: ClassVar[int] = 1
    closed: ClassVar[bool] = True

    @property
    def rotations(self) -> int:
        """How many of the matrices are rotations: half of them."""
        return len(self.matrices) // 2

    @abstractmethod
    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        """Which triples are cells of this grid, bool[cells]."""

    @abstractmethod
    def centres(self, cells: Cells) -> Cells:
        """The centres of cells, in the coordinates on which the matrices act."""

    @abstractmethod
    def at_centres(self, centres: Cells) -> Cells:
        """The cells that have these centres."""

    @abstractmethod
    def homes(self, cells: Cells) -> Cells:
        """For each cell the translation of the grid that brings its representative there.

        Cells have the same representative if and only if a translation of the grid maps one to the other.
        """

    @abstractmethod
    def neighbours(self, cell: tuple[int, int, int]) -> Cells:
        """The cells that share a face with this one (of spheres: that touch it)."""

    def turned(self, cells: Cells, number: int) -> Cells | None:
        """These cells after an isometry, in the same order, up to a translation of the grid.

        None where the isometry does not map them to cells, which happens with spheres only.
        """
        return self.at_centres(self.centres(cells) @ self.matrices[number].T // self.denominator)

    def settled(self, cells: Cells) -> tuple[Cells, NDArray[np.int64]]:
        """Cells in ascending order, and translated so that the first is a representative; and that order.

        Two sets of cells have the same result if and only if a translation of the grid maps one to the other.
        """
        order = np.lexsort(cells.T[::-1])
        ascending = cells[order]
        return ascending - self.homes(ascending[:1]), order


def cube_rotations() -> NDArray[np.int64]:
    """The 24 rotations of the cube and their reflections, int64[48, 3, 3].

    Quarter turns about x come first, after none, one, two or three about y, then one or three about z.
    """
    x = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], np.int64)
    y = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]], np.int64)
    z = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.int64)
    power = np.linalg.matrix_power
    sides = [power(y, turns) for turns in range(4)] + [z, power(z, 3)]
    rotations = [side @ power(x, turns) for side in sides for turns in range(4)]
    return with_reflections(np.array(rotations))


def with_reflections(rotations: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rotations, and each after a reflection of the first axis: int64[2 * rotations, 3, 3]."""
    return np.concatenate([rotations, rotations * np.array([-1, 1, 1])])


def beside(cell: tuple[int, int, int], steps: NDArray[np.int64], grid: CellGrid) -> Cells:
    """Those of the cells at these steps that are cells."""
    cells = np.array(cell, np.int64) + steps
    return cells[grid.valid(cells)]


def steps_of_length(*squares: int) -> NDArray[np.int64]:
    """All steps of integers whose squared length is one of these, int64[steps, 3]."""
    reach = 1
    while reach * reach < max(squares):
        reach += 1
    line = np.arange(-reach, reach + 1)
    steps = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    return steps[np.isin((steps**2).sum(axis=1), squares)]

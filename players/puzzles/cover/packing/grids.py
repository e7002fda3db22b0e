"""The five grids of packing puzzles: their cells, and the isometries that map cells to cells.

A cell is an integer triple, as in BurrTools' files (A. Röver), so that its puzzles can be read. An isometry
is an integer matrix over a denominator. It acts on the cells' centres, in grid coordinates in which that is
exact. A normal form fixes the remaining translation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverError

Cells = NDArray[np.int64]
"""int64[cells, 3]."""


class CellGrid(ABC):
    """Cells in space, with their translations, rotations and mirrors.

    Attributes:
        name: the grid's name for users.
        matrices: int64[2 * rotations, 3, 3], over the denominator: the rotations, the identity first, then
            each of them after a reflection of the first axis. Numbered as in BurrTools' files, but for the
            spheres.
        rotations: the number of rotations among them.
        denominator: the common denominator of the matrices.
        closed: whether they form a group.
    """

    name: ClassVar[str]
    matrices: ClassVar[NDArray[np.int64]]
    denominator: ClassVar[int] = 1
    closed: ClassVar[bool] = True

    @property
    def rotations(self) -> int:
        """The number of rotations: half of the matrices."""
        return len(self.matrices) // 2

    @abstractmethod
    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        """Return which triples are cells of this grid, bool[cells]."""

    @abstractmethod
    def centres(self, cells: Cells) -> Cells:
        """Return the centres of cells, in the coordinates on which the matrices act."""

    @abstractmethod
    def at_centres(self, centres: Cells) -> Cells:
        """Return the cells with these centres."""

    @abstractmethod
    def homes(self, cells: Cells) -> Cells:
        """Return for each cell the translation of the grid from its representative to the cell.

        Cells have the same representative if and only if a translation of the grid maps one to the other.
        """

    def turned(self, cells: Cells, number: int) -> Cells | None:
        """Return these cells after an isometry, in the same order, up to a translation of the grid.

        Returns None if the isometry does not map them to cells, which happens only with spheres.
        """
        return self.at_centres(self.centres(cells) @ self.matrices[number].T // self.denominator)

    def settled(self, cells: Cells) -> tuple[Cells, NDArray[np.int64]]:
        """Return the cells in ascending order, translated so that the first is a representative, and that
        order.

        Two sets of cells have the same result if and only if a translation of the grid maps one to the other.
        """
        order = np.lexsort(cells.T[::-1])
        ascending = cells[order]
        return ascending - self.homes(ascending[:1]), order


def _cube_rotations() -> NDArray[np.int64]:
    """Return the 24 rotations of the cube and their reflections, int64[48, 3, 3].

    Quarter turns about x come first, after none, one, two or three about y, then one or three about z.
    """
    x = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], np.int64)
    y = np.array([[0, 0, -1], [0, 1, 0], [1, 0, 0]], np.int64)
    z = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], np.int64)
    power = np.linalg.matrix_power
    sides = [power(y, turns) for turns in range(4)] + [z, power(z, 3)]
    rotations = [side @ power(x, turns) for side in sides for turns in range(4)]
    return _with_reflections(np.array(rotations))


def _with_reflections(rotations: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rotations, then each of them after a reflection of the first axis: int64[2 * rotations, 3,
    3]."""
    return np.concatenate([rotations, rotations * np.array([-1, 1, 1])])


class _CubeGrid(CellGrid):
    """Unit cubes: every triple is a cell, every integer step a translation."""

    name = "cubes"
    matrices = _cube_rotations()

    def valid(self, cells: Cells) -> NDArray[np.bool_]:
        return np.ones(len(cells), np.bool_)

    def centres(self, cells: Cells) -> Cells:
        return cells

    def at_centres(self, centres: Cells) -> Cells:
        return centres

    def homes(self, cells: Cells) -> Cells:
        return cells


def _prism_rotations() -> NDArray[np.int64]:
    """Return sixth turns about z, then the same after a half turn about y; over 2.

    Along x the unit is half an edge, along y a third of a triangle's height: so a sixth turn is rational.
    """
    sixth = np.array([[1, -1, 0], [3, 1, 0], [0, 0, 2]], np.int64)
    turn = np.diag([2, 2, 2]).astype(np.int64)
    turns = []
    for _ in range(6):
        turns.append(turn)
        turn = sixth @ turn // 2
    return _with_reflections(np.array(turns + [turn @ np.diag([-1, 1, -1]) for turn in turns]))


class _PrismGrid(CellGrid):
    """Prisms over equilateral triangles. Steps that keep the parity of x + y are translations."""

    name = "prisms"
    matrices = _prism_rotations()
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


def _sphere_rotations() -> NDArray[np.int64]:
    """Return the cube's rotations, and all their products with a sixth turn about a diagonal; over 3.

    A sixth turn about a diagonal does not map the packing to itself. But flat pieces, which lie in one layer
    of it, still fit after it: 96 more orientations, 120 in all. They do not form a group.
    """
    cube = _cube_rotations()[:24]
    sixth = np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]], np.int64)
    products = (cube[:, None] @ sixth @ cube[None]).reshape(-1, 9)
    twisted = np.unique(products, axis=0).reshape(-1, 3, 3)
    return _with_reflections(np.concatenate([3 * cube, twisted]))


class _SphereGrid(CellGrid):
    """Spheres that touch twelve others each."""

    name = "spheres"
    matrices = _sphere_rotations()
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


class _RhombicGrid(CellGrid):
    """The 24 tetrahedra of each cube; whole cubes are the translations."""

    name = "rhombic"
    matrices = _cube_rotations()

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


class _TetraOctahedraGrid(CellGrid):
    """A tetrahedron and four eighths of octahedra a cube; translations keep the chessboard's colours."""

    name = "tetra-octahedra"
    matrices = _cube_rotations()

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


GRIDS: tuple[CellGrid, ...] = (
    _CubeGrid(),
    _PrismGrid(),
    _SphereGrid(),
    _RhombicGrid(),
    _TetraOctahedraGrid(),
)


def grid(name: str) -> CellGrid:
    """Return the grid with this name. Raises CoverError if there is none."""
    for candidate in GRIDS:
        if candidate.name == name:
            return candidate
    names = ", ".join(candidate.name for candidate in GRIDS)
    raise CoverError(f"there is no grid {name[:40]!r}", remedy=f"take one of {names}")

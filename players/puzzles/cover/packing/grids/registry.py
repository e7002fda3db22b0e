"""The five grids, by their names, in the order of their numbers in BurrTools' files."""

from __future__ import annotations

from players.puzzles.cover.packing.grids.cubes import CubeGrid
from players.puzzles.cover.packing.grids.grid import CellGrid
from players.puzzles.cover.packing.grids.prisms import PrismGrid
from players.puzzles.cover.packing.grids.rhombic import RhombicGrid
from players.puzzles.cover.packing.grids.spheres import SphereGrid
from players.puzzles.cover.packing.grids.tetra_octahedra import TetraOctahedraGrid
from players.puzzles.cover.problem import CoverError

GRIDS: tuple[CellGrid, ...] = (CubeGrid(), PrismGrid(), SphereGrid(), RhombicGrid(), TetraOctahedraGrid())


def grid(name: str) -> CellGrid:
    """The grid of this name; raises CoverError if there is none."""
    for candidate in GRIDS:
        if candidate.name == name:
            return candidate
    names = ", ".join(candidate.name for candidate in GRIDS)
    raise CoverError(f"there is no grid {name[:40]!r}", remedy=f"take one of {names}")

"""The numbers that BurrTools' files give to isometries.

They are those of our grids, but for spheres, whose 120 rotations the files have in an order of their own. A
reflection's number is that of the rotation after it, plus the number of rotations.
"""

from __future__ import annotations

from players.puzzles.cover.packing.grids.grid import CellGrid

# fmt: off
_SPHERES = (
    0, 6, 16, 7, 10, 4, 20, 5, 17, 3, 11, 19, 21, 9, 1, 23, 12, 2, 15, 18, 14, 8, 13, 22, 84, 95, 78,
    116, 63, 81, 65, 79, 74, 112, 80, 91, 69, 75, 59, 85, 110, 83, 106, 87, 101, 73, 97, 77, 31, 40, 42,
    103, 68, 29, 113, 72, 114, 30, 71, 28, 70, 100, 41, 115, 43, 102, 53, 33, 90, 62, 108, 55, 32, 35,
    88, 52, 111, 54, 109, 61, 89, 34, 82, 60, 39, 48, 37, 104, 94, 86, 58, 50, 49, 57, 93, 92, 107, 38,
    51, 56, 36, 105, 46, 99, 27, 44, 118, 26, 67, 64, 25, 117, 76, 119, 47, 98, 24, 66, 96, 45,
)
# fmt: on
"""For each rotation of spheres in a file, ours."""


def way_of_turn(grid: CellGrid, turn: int) -> int:
    """Our number of the isometry that a file calls so."""
    if grid.name != "spheres":
        return turn
    mirrored, rotation = divmod(turn, len(_SPHERES))
    return mirrored * len(_SPHERES) + _SPHERES[rotation]


def turn_of_way(grid: CellGrid, way: int) -> int:
    """A file's number of our isometry."""
    if grid.name != "spheres":
        return way
    mirrored, rotation = divmod(way, len(_SPHERES))
    return mirrored * len(_SPHERES) + _SPHERES.index(rotation)

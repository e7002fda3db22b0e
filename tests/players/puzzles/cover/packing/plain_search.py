"""A plain search of cover problems, with integers as sets of options: slow, and easy to believe. Cells that
touch, and images of solutions, as plain."""

from __future__ import annotations

from itertools import product

import numpy as np

from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.grids import CellGrid
from players.puzzles.cover.packing.search import Duplicates
from players.puzzles.cover.problem import CoverProblem


class PlainSearch:
    """All solutions of a cover problem without colours, each the sorted numbers of its options."""

    def __init__(self, problem: CoverProblem) -> None:
        assert not problem.coloured().any()
        self.problem = problem
        self.options = [
            list(
                zip(
                    problem.option(o).tolist(),
                    problem.weights[problem.starts[o] : problem.starts[o + 1]].tolist(),
                    strict=True,
                )
            )
            for o in range(problem.options)
        ]
        self.rows = [0] * problem.items
        for o, nodes in enumerate(self.options):
            for item, _ in nodes:
                self.rows[item] |= 1 << o
        self.minimum, self.maximum = problem.minimum.tolist(), problem.maximum.tolist()
        self.holes = [item for item in range(problem.items) if problem.may_be_hole[item]]
        self.found: list[list[int]] = []

    def solutions(self) -> list[list[int]]:
        self._search((1 << self.problem.options) - 1, [], [0] * self.problem.items)
        return sorted(self.found)

    def _search(self, live: int, chosen: list[int], sums: list[int]) -> None:
        if self.problem.holes is not None:
            empty = sum(1 for item in self.holes if not sums[item] and not self.rows[item] & live)
            if empty > self.problem.holes:
                return
        short = [item for item in range(self.problem.items) if sums[item] < self.minimum[item]]
        if not short and not live:
            self.found.append(sorted(chosen))
            return
        branch = min((self.rows[item] & live for item in short), key=int.bit_count, default=live)
        while branch:
            option = (branch & -branch).bit_length() - 1
            branch &= branch - 1
            live &= ~(1 << option)
            self._take(option, live, chosen, sums)
        if not short:
            self._search(0, chosen, sums)

    def _take(self, option: int, live: int, chosen: list[int], sums: list[int]) -> None:
        sums = sums[:]
        for item, weight in self.options[option]:
            sums[item] += weight
            if sums[item] > self.maximum[item]:
                return
            if sums[item] == self.maximum[item]:
                live &= ~self.rows[item]
        self._search(live, [*chosen, option], sums)


def solutions(problem: CoverProblem) -> list[list[int]]:
    """All solutions, ascending."""
    return PlainSearch(problem).solutions()


def kept_of(packing: Packing) -> tuple[Duplicates, list[np.ndarray], list[np.ndarray]]:
    """Which solutions are duplicates, all of them, and those that are kept."""
    duplicates = Duplicates.of(packing)
    found = [np.array(each, np.int32) for each in solutions(duplicates.problem)]
    return duplicates, found, duplicates.kept(found)


def images_of(duplicates: Duplicates, solution: np.ndarray) -> set[tuple[int, ...]]:
    """What symmetries of the result make of a solution, given and returned as ascending options."""
    images = [solution, *(image[solution] for image in duplicates.images)]
    return {tuple(sorted(image.tolist())) for image in images if (image >= 0).all()}


def neighbours(grid: CellGrid, cell: tuple[int, ...]) -> np.ndarray:
    """The cells that share a face with this one (of spheres: that touch it), int64[cells, 3]."""
    if grid.name == "prisms":
        base = 1 if (cell[0] + cell[1]) & 1 else -1
        return np.array(cell) + np.array([[-1, 0, 0], [1, 0, 0], [0, base, 0], [0, 0, -1], [0, 0, 1]])
    lengths = {"cubes": [1], "spheres": [2], "rhombic": [1, 2], "tetra-octahedra": [1, 3]}[grid.name]
    steps = np.array(list(product(range(-2, 3), repeat=3)))
    near = np.array(cell) + steps[np.isin((steps**2).sum(axis=1), lengths)]
    near = near[grid.valid(near)]
    if grid.name == "tetra-octahedra":
        middle = (np.array(cell) % 3 == 1).all() | (near % 3 == 1).all(axis=1)
        near = near[middle | (np.abs(near - np.array(cell)).sum(axis=1) == 1)]
    return near

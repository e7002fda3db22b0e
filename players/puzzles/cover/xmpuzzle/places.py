"""Solutions in BurrTools' files: a place for each copy of each piece, and the options that these are.

A place is where the shape's hotspot lies in the box of the result, and the number of the isometry by which
the shape was turned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.packing.assembly import Packing
from players.puzzles.cover.packing.grids.grid import CellGrid, Cells
from players.puzzles.cover.problem import CoverError
from players.puzzles.cover.xmpuzzle.model import BurrFile, BurrProblem, BurrShape, Place
from players.puzzles.cover.xmpuzzle.turns import turn_of_way, way_of_turn


def placed_cells(grid: CellGrid, shape: BurrShape, place: Place) -> Cells:
    """The cells that a shape fills at a place; raises CoverError where it does not fit the grid."""
    points = np.concatenate([shape.shape.cells, [shape.hotspot]])
    turned = grid.turned(points, way_of_turn(grid, place[3]))
    if turned is not None:
        cells: Cells = turned[:-1] + np.array(place[:3]) - turned[-1]
        if grid.valid(cells).all():
            return cells
    raise CoverError(
        f"a saved solution puts {shape.shape.name} at {place}, which is not on the grid",
        remedy="solve the puzzle anew",
    )


class Places:
    """Translates between the options of a packing and the places of a file.

    Args:
        file: the file.
        problem: one of its problems.
        packing: of that problem's puzzle.
    """

    def __init__(self, file: BurrFile, problem: BurrProblem, packing: Packing) -> None:
        self.packing = packing
        self._grid = problem.puzzle.grid
        self._shapes = [file.shapes[number] for number in problem.shapes]
        self._pieces = problem.puzzle.pieces
        result = problem.puzzle.result.cells
        self._result = result
        self._cell = {tuple(cell): number for number, cell in enumerate(result.tolist())}
        self._options: list[dict[frozenset[int], int]] = [
            {frozenset(cells): int(packing.first[piece]) + row for row, cells in enumerate(rows.tolist())}
            for piece, rows in enumerate(packing.placed)
        ]

    def solution(self, places: Sequence[Place | None]) -> NDArray[np.int32]:
        """The options of a saved solution, ascending; raises CoverError where pieces do not fit."""
        options = []
        copies = [piece for piece, spec in enumerate(self._pieces) for _ in range(spec.maximum)]
        for piece, place in zip(copies, places, strict=True):
            if place is None:
                continue
            cells = placed_cells(self._grid, self._shapes[piece], place).tolist()
            inside = frozenset(self._cell.get(tuple(cell), -1) for cell in cells)
            option = self._options[piece].get(inside)
            if option is None:
                raise CoverError(
                    f"a saved solution puts {self._shapes[piece].shape.name} where it does not fit",
                    remedy="solve the puzzle anew",
                )
            options.append(option)
        return np.array(sorted(options), np.int32)

    def places(self, solution: Sequence[int] | NDArray[np.int32]) -> tuple[Place | None, ...]:
        """A solution as a file has it: for each piece its copies, those not placed last."""
        found: list[Place | None] = []
        options = sorted(map(int, solution))
        for piece, spec in enumerate(self._pieces):
            own = [self._place(option) for option in options if self.packing.pieces[option] == piece]
            found += [*own, *[None] * (spec.maximum - len(own))]
        return tuple(found)

    def _place(self, option: int) -> Place:
        shape = self._shapes[self.packing.pieces[option]]
        way = int(self.packing.ways[option])
        turned = self._grid.turned(np.concatenate([shape.shape.cells, [shape.hotspot]]), way)
        assert turned is not None
        lowest = turned[np.lexsort(turned[:-1].T[::-1])[0]]
        first = self._result[self.packing.cells(option)[0]]
        x, y, z = (turned[-1] + first - lowest).tolist()
        return x, y, z, turn_of_way(self._grid, way)

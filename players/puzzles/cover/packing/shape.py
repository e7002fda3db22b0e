"""`CellShape`: cells of a grid, with names, colours, and which of them must be filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gdl.visible import visible
from players.puzzles.cover.packing.grids.grid import CellGrid, Cells
from players.puzzles.cover.problem import CoverError

MOST_CELLS = 100_000
FURTHEST = 1 << 20
MOST_COLOURS = 1 << 12


@dataclass(frozen=True, eq=False, slots=True)
class CellShape:
    """A piece, or what pieces are to fill.

    Attributes:
        cells: int64[cells, 3], each once.
        fixed: bool[cells]: of a result, whether the cell must be filled; one that need not is variable. All
            cells of a piece are fixed.
        colours: int64[cells], 0 for none.
        name: for people.
    """

    cells: Cells
    fixed: NDArray[np.bool_]
    colours: NDArray[np.int64]
    name: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))

    @classmethod
    def of(cls, layers: Sequence[Sequence[str]], name: str = "") -> CellShape:
        """From a drawing: layers (z) of rows (y) of characters (x): `#` fixed, `+` variable, `.` nothing.

        >>> CellShape.of([["##.", ".##"]]).cells.tolist()
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 1, 0]]
        """
        marks = [
            (x, y, z, mark == "#")
            for z, rows in enumerate(layers)
            for y, row in enumerate(rows)
            for x, mark in enumerate(row)
            if mark != "."
        ]
        wrong = {mark for rows in layers for row in rows for mark in row} - set("#+.")
        if wrong:
            raise CoverError(f"a drawing has {min(wrong)!r}", remedy="draw with '#', '+' and '.'")
        return cls.at([mark[:3] for mark in marks], [mark[3] for mark in marks], name=name)

    @classmethod
    def at(
        cls,
        cells: Sequence[Sequence[int]] | Cells,
        fixed: Sequence[bool] | None = None,
        colours: Sequence[int] | None = None,
        name: str = "",
    ) -> CellShape:
        """From its cells, all fixed and without colours unless these are given."""
        return cls(
            np.array(cells, np.int64).reshape(-1, 3),
            np.ones(len(cells), np.bool_) if fixed is None else np.array(fixed, np.bool_),
            np.zeros(len(cells), np.int64) if colours is None else np.array(colours, np.int64),
            name,
        )

    def __len__(self) -> int:
        return len(self.cells)

    def check(self, grid: CellGrid) -> None:
        """Raises CoverError for a shape that is empty, too large or not on this grid."""
        called = f"shape {self.name!r}" if self.name else "a shape"
        if not len(self.cells):
            raise CoverError(f"{called} has no cells", remedy="fill one at least")
        if len(self.cells) > MOST_CELLS or np.abs(self.cells).max() > FURTHEST:
            raise CoverError(f"{called} is too large", remedy=f"at most {MOST_CELLS} cells")
        if not len(self.cells) == len(self.fixed) == len(self.colours):
            raise CoverError(f"{called} has cells, marks and colours of different number", remedy="mend it")
        if ((self.colours < 0) | (self.colours >= MOST_COLOURS)).any():
            raise CoverError(
                f"{called} has a colour out of range", remedy=f"colours are 0 to {MOST_COLOURS - 1}"
            )
        valid = grid.valid(self.cells)
        if not valid.all():
            cell = tuple(self.cells[np.argmin(valid)].tolist())
            raise CoverError(f"{called} has {cell}, no cell of {grid.name}", remedy="move it to a cell")
        if len(np.unique(self.cells, axis=0)) < len(self.cells):
            raise CoverError(f"{called} has a cell twice", remedy="name each once")

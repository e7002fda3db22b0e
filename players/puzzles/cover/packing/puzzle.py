"""`PackingPuzzle`: pieces, the number of each, and the shape to fill.

After the model of A. Röver's BurrTools: ranges of pieces, variable cells, holes, colours with constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gdl.visible import visible
from gdl.words import counted
from players.puzzles.cover.packing.grids import CellGrid, Cells
from players.puzzles.cover.problem import CoverError

MOST_CELLS = 100_000
_FURTHEST = 1 << 20
MOST_COLOURS = 1 << 12


@dataclass(frozen=True, eq=False, slots=True)
class CellShape:
    """A piece, or the shape that the pieces fill.

    Attributes:
        cells: int64[cells, 3], each once.
        fixed: bool[cells]: in a result, whether the cell must be filled; the others are variable. All cells
            of a piece are fixed.
        colours: int64[cells], 0 for none.
        name: shown to users.
    """

    cells: Cells
    fixed: NDArray[np.bool_]
    colours: NDArray[np.int64]
    name: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))

    @classmethod
    def of(cls, layers: Sequence[Sequence[str]], name: str = "") -> CellShape:
        """Return the shape of a drawing: layers (z) of rows (y) of characters (x): `#` fixed, `+` variable,
        `.` nothing.

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
        """Return the shape of these cells, by default all fixed and without colours."""
        return cls(
            np.array(cells, np.int64).reshape(-1, 3),
            np.ones(len(cells), np.bool_) if fixed is None else np.array(fixed, np.bool_),
            np.zeros(len(cells), np.int64) if colours is None else np.array(colours, np.int64),
            name,
        )

    def __len__(self) -> int:
        return len(self.cells)

    def check(self, grid: CellGrid) -> None:
        """Raise CoverError if the shape is empty, too large or not on this grid."""
        called = f"shape {self.name!r}" if self.name else "a shape"
        if not len(self.cells):
            raise CoverError(f"{called} has no cells", remedy="fill one at least")
        if len(self.cells) > MOST_CELLS or np.abs(self.cells).max() > _FURTHEST:
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


MOST_PIECES = 10_000


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """A shape, and the number of copies to place.

    Attributes:
        shape: may be rotated but not reflected: its mirror image is another piece.
        minimum, maximum: the bounds on the copies in a solution.
        groups: pairs (group, copies): pieces of a group may stay together when a solution is taken apart.
        ways: the numbers of the isometries it may lie in; None for all rotations.
    """

    shape: CellShape
    minimum: int = 1
    maximum: int = 1
    groups: tuple[tuple[int, int], ...] = ()
    ways: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False, slots=True)
class PackingPuzzle:
    """A puzzle: find the sets of placed pieces that fill each fixed cell once and no cell twice.

    Attributes:
        grid: the grid of all shapes.
        pieces: the pieces with their bounds.
        result: the shape to fill; its variable cells may stay empty.
        allowed: pairs (colour of a piece's cell, colour of the result's cell) that may coincide. Cells
            without a colour (0) go with all.
        holes: the most variable cells that stay empty; None for any number. It matters only if a piece has a
            range of copies; otherwise all solutions have the same number of holes.
        name: shown to users.
    """

    grid: CellGrid
    pieces: tuple[Piece, ...]
    result: CellShape
    allowed: frozenset[tuple[int, int]] = frozenset()
    holes: int | None = None
    name: str = field(default="")

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))

    @property
    def ranged(self) -> bool:
        """Whether some piece has a range of copies."""
        return any(piece.minimum < piece.maximum for piece in self.pieces)

    @property
    def filled(self) -> tuple[int, int]:
        """The fewest and the most cells that the pieces can fill, if they fit."""
        return (
            sum(piece.minimum * len(piece.shape) for piece in self.pieces),
            sum(piece.maximum * len(piece.shape) for piece in self.pieces),
        )

    @property
    def most_holes(self) -> int | None:
        """The most cells that may stay empty: the cells that the pieces leave if their number is fixed,
        otherwise `holes`."""
        fewest, most = self.filled
        return len(self.result) - fewest if fewest == most else self.holes

    @property
    def remark(self) -> str:
        """Why `holes` changes nothing, for people; empty if it may, or there is none."""
        if self.holes is None:
            return ""
        if self.result.fixed.all():
            return "`holes` changes nothing: no cell of the result may stay empty, as those drawn with + may"
        fewest, most = self.filled
        if fewest == most:
            left = counted(len(self.result) - fewest, "cell")
            return f"`holes` changes nothing: with fixed numbers of pieces each solution leaves {left} empty"
        return ""

    def check(self) -> None:
        """Raise CoverError if the puzzle contradicts itself or is too large."""
        self.check_pieces()
        self.check_room()

    def check_pieces(self) -> None:
        """Raise CoverError for invalid shapes or numbers of pieces."""
        if not self.pieces:
            raise CoverError("the puzzle has no pieces", remedy="give it one at least")
        self.result.check(self.grid)
        for piece in self.pieces:
            piece.shape.check(self.grid)
            called = piece.shape.name or "a piece"
            if not 0 <= piece.minimum <= piece.maximum <= MOST_PIECES:
                raise CoverError(
                    f"{called}: {piece.minimum} to {piece.maximum} copies",
                    remedy=f"0 <= minimum <= maximum <= {MOST_PIECES}",
                )
            if not piece.shape.fixed.all():
                raise CoverError(f"{called} has variable cells", remedy="only the result may have them")
        if self.holes is not None and self.holes < 0:
            raise CoverError(f"{self.holes} holes", remedy="say 0 or more")

    def check_room(self) -> None:
        """Raise CoverError if the pieces are too large for the result, or too few."""
        fewest, most = self.filled
        room, needed = len(self.result), int(np.count_nonzero(self.result.fixed))
        if fewest > room:
            raise CoverError(
                f"the pieces have {counted(fewest - room, 'cell')} more than the result",
                remedy="take some of them away",
            )
        if most < needed:
            raise CoverError(
                f"the pieces have {counted(needed - most, 'cell')} too few for the result",
                remedy="add pieces, or draw those cells of the result that may stay empty as +",
            )

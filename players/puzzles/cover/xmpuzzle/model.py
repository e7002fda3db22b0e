"""What a BurrTools file holds: shapes in boxes, and problems made of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from players.puzzles.cover.packing.puzzle import PackingPuzzle
from players.puzzles.cover.packing.shape import CellShape
from players.puzzles.cover.problem import CoverError

Hotspot = tuple[int, int, int]
Place = tuple[int, int, int, int]
"""Where a piece lies: its hotspot, and the number of the isometry it was turned by."""


@dataclass(frozen=True, eq=False, slots=True)
class BurrShape:
    """A shape of a file.

    Attributes:
        shape: its cells.
        size: of the box it was drawn in.
        hotspot: the point by which places are given; it turns with the shape.
    """

    shape: CellShape
    size: tuple[int, int, int]
    hotspot: Hotspot = (0, 0, 0)


@dataclass(frozen=True, eq=False, slots=True)
class BurrProblem:
    """A problem of a file.

    Attributes:
        puzzle: pieces, result and rules.
        shapes: the number of the shape of each piece.
        result: the number of the result's shape.
        assemblies: as many did BurrTools find when it saved the file; None if it did not finish.
        saved: solutions in the file: for each copy of each piece, as many as there may be, its place or None.
        interrupted: the version of BurrTools whose interrupted search the file holds, "" for none.
    """

    puzzle: PackingPuzzle
    shapes: tuple[int, ...]
    result: int
    assemblies: int | None = None
    saved: tuple[tuple[Place | None, ...], ...] = ()
    interrupted: str = ""

    def refuse_to_go_on(self) -> None:
        """Raises CoverError if the file holds an interrupted search, which only BurrTools can go on with."""
        if self.interrupted:
            raise CoverError(
                f"the file holds a search that BurrTools (assembler {self.interrupted}) interrupted",
                remedy="search the puzzle from its beginning; only BurrTools can go on with that",
            )


@dataclass(frozen=True, eq=False, slots=True)
class BurrFile:
    """A file: its shapes, its problems, and the author's words."""

    shapes: tuple[BurrShape, ...]
    problems: tuple[BurrProblem, ...]
    comment: str = ""
    colours: tuple[tuple[int, int, int], ...] = field(default=())

    def problem(self, number: int = 1) -> BurrProblem:
        """A problem by its number, from 1; raises CoverError if there is none."""
        if not 1 <= number <= len(self.problems):
            raise CoverError(
                f"there is no problem {number}", remedy=f"the file has problems 1 to {len(self.problems)}"
            )
        return self.problems[number - 1]

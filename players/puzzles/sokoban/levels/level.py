"""`Level`: one Sokoban level as people draw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Square = tuple[int, int]
"""Column and row of a map, from 0, from its upper left corner."""

WALL, FLOOR, BOX, GOAL, BOX_ON_GOAL, KEEPER, KEEPER_ON_GOAL = "# $.*@+"


@dataclass(frozen=True, slots=True)
class Level:
    """A level: its map, and what its file says of it.

    Attributes:
        rows: the map from top to bottom, all rows of the same length, in the characters of XSB: ``#`` wall,
            blank floor (or nothing, outside), ``$`` box, ``.`` goal, ``*`` box on a goal, ``@`` keeper,
            ``+`` keeper on a goal.
        title, author, comment: as the file has them; empty where it does not.
        line: the line of the file that the map begins on, from 1; 0 for a level that was not read.
    """

    rows: tuple[str, ...]
    title: str = ""
    author: str = ""
    comment: str = ""
    line: int = 0

    @property
    def width(self) -> int:
        """Columns of the map."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def height(self) -> int:
        """Rows of the map."""
        return len(self.rows)

    @property
    def boxes(self) -> int:
        """How many boxes it has."""
        return sum(row.count(BOX) + row.count(BOX_ON_GOAL) for row in self.rows)

    def find(self, kinds: str) -> list[Square]:
        """The squares with one of these characters, row by row."""
        return [(x, y) for y, row in enumerate(self.rows) for x, char in enumerate(row) if char in kinds]

    @property
    def inside(self) -> frozenset[Square]:
        """The squares that the keeper could reach if there were no boxes: what lies elsewhere is no part of
        the game."""
        return frozenset(flood(self.rows, self.find(KEEPER + KEEPER_ON_GOAL)[0]))

    def __str__(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)


def flood(rows: Sequence[str], start: Square) -> Iterator[Square]:
    """The squares that a keeper can walk to from ``start`` if there are no boxes, the nearest first. Behind
    the end of a row all is floor. Where the walls are open, squares one step off the map are among them."""
    width = max(map(len, rows))
    seen, line = {start}, [start]
    for x, y in line:
        yield x, y
        if not (0 <= x < width and 0 <= y < len(rows)):
            continue
        for i, j in ((x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)):
            row = rows[j] if 0 <= j < len(rows) else ""
            if (i, j) not in seen and not (0 <= i < len(row) and row[i] == WALL):
                seen.add((i, j))
                line.append((i, j))

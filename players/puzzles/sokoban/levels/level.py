"""`Level`: one Sokoban level as people draw it."""

from __future__ import annotations

from dataclasses import dataclass

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

    def __str__(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)

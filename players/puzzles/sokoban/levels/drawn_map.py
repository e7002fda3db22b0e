"""`DrawnMap`: a level as its file has it, each character with its place; `checked` makes a `Level` of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from gdl.errors import GdlError, Place
from gdl.visible import visible
from players.puzzles.sokoban.levels.level import (
    BOX,
    BOX_ON_GOAL,
    FLOOR,
    GOAL,
    KEEPER,
    KEEPER_ON_GOAL,
    WALL,
    Level,
    Square,
    flood,
)

MOST_SIDE = 400
"""The longest side of a map that is read."""

CHARACTERS = {
    **{c: c for c in (WALL, FLOOR, BOX, GOAL, BOX_ON_GOAL, KEEPER, KEEPER_ON_GOAL)},
    **dict.fromkeys("-_", FLOOR),
    "b": BOX,
    "B": BOX_ON_GOAL,
    "p": KEEPER,
    "P": KEEPER_ON_GOAL,
    "o": GOAL,
    "O": GOAL,
}
"""What the characters of all dialects stand for: capital B and P stand on a goal."""

BOXES, KEEPERS, GOALS = (
    BOX + BOX_ON_GOAL,
    KEEPER + KEEPER_ON_GOAL,
    GOAL + BOX_ON_GOAL + KEEPER_ON_GOAL,
)


@dataclass(slots=True)
class DrawnRow:
    """One row.

    Attributes:
        line: its line in the file, from 1.
        cells: its characters in XSB, without run lengths.
        columns: for each of them its column in the file, from 1.
    """

    line: int
    cells: str
    columns: list[int]

    def place(self, x: int) -> Place:
        """Where the file has the character of column ``x``; behind the row's end where it has none."""
        if x < len(self.columns):
            return Place(self.line, self.columns[x])
        return Place(self.line, (self.columns[-1] if self.columns else 0) + 1)


@dataclass(slots=True)
class DrawnMap:
    """A map that was found in a file, and what the file says of it; nothing of it is checked yet."""

    source: str
    rows: list[DrawnRow]
    title: str = ""
    author: str = ""
    comment: str = ""
    _width: int = field(init=False, default=0)

    def checked(self) -> Level:
        """The level.

        Rows are filled up to one length; empty rows and columns around the map are left out.
        More goals than boxes are fine: such a level is solved when every box is on a goal. What the keeper
        could not even reach if there were no boxes is no part of the game, and does not count.

        Raises GdlError, with the place in the file: no keeper or two, no box, more boxes than goals, walls
        that are open, a keeper that cannot move, a box that cannot be reached and is on no goal, a map that
        is too large.
        """
        self._trim()
        self._width = max((len(row.cells) for row in self.rows), default=0)
        if self._width > MOST_SIDE or len(self.rows) > MOST_SIDE:
            row = next((row for row in self.rows if len(row.cells) > MOST_SIDE), None) or self.rows[MOST_SIDE]
            raise self._error(
                f"the map has {self._width} columns and {len(self.rows)} rows",
                row.place(MOST_SIDE if len(row.cells) > MOST_SIDE else 0),
                f"at most {MOST_SIDE} of each are read",
            )
        x, y = self._keeper()
        inside = self._inside(x, y)
        self._count(inside)
        self._can_move(x, y)
        rows = tuple(row.cells.ljust(self._width) for row in self.rows)
        texts = visible(self.title), visible(self.author), visible(self.comment, keep="\n\t")
        return Level(rows, *texts, self.rows[0].line)

    def _trim(self) -> None:
        """Leave out rows without anything above and below, and columns without anything to the left."""
        while self.rows and not self.rows[0].cells.strip():
            del self.rows[0]
        while self.rows and not self.rows[-1].cells.strip():
            del self.rows[-1]
        indents = [len(row.cells) - len(row.cells.lstrip()) for row in self.rows if row.cells.strip()]
        indent = min(indents, default=0)
        for row in self.rows:
            row.cells = row.cells[indent:].rstrip()
            row.columns = row.columns[indent:]

    def _at(self, x: int, y: int) -> str:
        cells = self.rows[y].cells
        return cells[x] if x < len(cells) else FLOOR

    def _find(self, kinds: str) -> list[Square]:
        return [(x, y) for y, row in enumerate(self.rows) for x, c in enumerate(row.cells) if c in kinds]

    def _keeper(self) -> Square:
        keepers = self._find(KEEPERS)
        if not keepers:
            raise self._error(
                "the level has no keeper", self.rows[0].place(0), "draw it as @, or + on a goal"
            )
        if len(keepers) > 1:
            raise self._error(
                f"the level has {len(keepers)} keepers: this is the second",
                self._place(*keepers[1]),
                f"the first is at {self._place(*keepers[0])}; keep one",
            )
        return keepers[0]

    def _inside(self, x: int, y: int) -> set[Square]:
        """The squares that the keeper could reach if there were no boxes; GdlError where it gets out."""
        inside = set[Square]()
        for i, j in flood([row.cells for row in self.rows], (x, y)):
            near = min(max(i, 0), self._width - 1), min(max(j, 0), len(self.rows) - 1)
            if (i, j) != near:
                raise self._error(
                    "the walls are open: the keeper could leave the map here",
                    self._place(*near),
                    "close them with #",
                )
            inside.add((i, j))
        return inside

    def _count(self, inside: set[Square]) -> None:
        for box in self._find(BOX):
            if box not in inside:
                raise self._error(
                    "no keeper can come to this box, and it is on no goal",
                    self._place(*box),
                    "the level cannot be solved",
                )
        boxes = [square for square in self._find(BOXES) if square in inside]
        goals = [square for square in self._find(GOALS) if square in inside]
        if not boxes:
            raise self._error("the level has no box", self.rows[0].place(0), "draw one as $, or * on a goal")
        if len(boxes) > len(goals):
            few = f"{len(goals)} goal" + ("s" if len(goals) != 1 else "")
            first_off = next(b for b in boxes if self._at(*b) == BOX)
            raise self._error(
                f"the level has {len(boxes)} boxes and only {few}",
                self._place(*first_off),
                "there may be more goals than boxes, not fewer",
            )

    def _can_move(self, x: int, y: int) -> None:
        for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
            ahead = self._at(x + dx, y + dy)
            if ahead != WALL and not (ahead in BOXES and self._at(x + 2 * dx, y + 2 * dy) in WALL + BOXES):
                return
        raise self._error("the keeper cannot move at all", self._place(x, y), "the level cannot be played")

    def _place(self, x: int, y: int) -> Place:
        return self.rows[y].place(x)

    def _error(self, message: str, place: Place, remedy: str) -> GdlError:
        return GdlError(message, place, remedy, self.source, "bad-level")

"""`Level`: one Sokoban level, as users draw it. `DrawnMap`: a map as its file has it, each character with its
place; `checked` turns it into a `Level`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gdl.errors import GdlError, Place
from gdl.visible import visible
from gdl.words import counted

Square = tuple[int, int]
"""Column and row of a map, from 0, from its upper left corner."""

WALL, FLOOR, BOX, GOAL, BOX_ON_GOAL, KEEPER, KEEPER_ON_GOAL = "# $.*@+"


@dataclass(frozen=True, slots=True)
class Level:
    """A level: its map, and the texts of its file.

    Attributes:
        rows: the map from top to bottom, all rows of the same length, in the characters of XSB: ``#`` wall,
            blank floor (or nothing, outside), ``$`` box, ``.`` goal, ``*`` box on a goal, ``@`` keeper,
            ``+`` keeper on a goal.
        title, author: from the file; empty if it has none.
        line: the line of the file on which the map begins, from 1; 0 for a level that is not from a file.
    """

    rows: tuple[str, ...]
    title: str = ""
    author: str = ""
    line: int = 0

    @property
    def width(self) -> int:
        """The number of columns of the map."""
        return len(self.rows[0]) if self.rows else 0

    @property
    def height(self) -> int:
        """The number of rows of the map."""
        return len(self.rows)

    @property
    def boxes(self) -> int:
        """The number of boxes."""
        return sum(row.count(BOX) + row.count(BOX_ON_GOAL) for row in self.rows)

    def find(self, kinds: str) -> list[Square]:
        """Return the squares with one of these characters, row by row."""
        return [(x, y) for y, row in enumerate(self.rows) for x, char in enumerate(row) if char in kinds]

    @property
    def inside(self) -> frozenset[Square]:
        """Return the squares that the keeper could reach without boxes; other squares are not part of the
        game."""
        return frozenset(flood(self.rows, self.find(KEEPER + KEEPER_ON_GOAL)[0]))

    def __str__(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)


def flood(rows: Sequence[str], start: Square) -> Iterator[Square]:
    """Return the squares that a keeper can walk to from ``start`` without boxes, the nearest first. Beyond
    the end of a row all is floor. If the walls are open, squares one step off the map are included."""
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


MOST_SIDE = 400
"""The longest side of a map that can be read."""

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
"""The meaning of the characters of all dialects: capital B and P stand on a goal."""

_BOXES, _KEEPERS, GOALS = (
    BOX + BOX_ON_GOAL,
    KEEPER + KEEPER_ON_GOAL,
    GOAL + BOX_ON_GOAL + KEEPER_ON_GOAL,
)


@dataclass(slots=True)
class DrawnRow:
    """One row of a map.

    Attributes:
        line: its line in the file, from 1.
        cells: its characters in XSB, without run lengths.
        columns: the column of each character in the file, from 1.
    """

    line: int
    cells: str
    columns: list[int]

    def place(self, x: int) -> Place:
        """Return the place in the file of the character in column ``x``; beyond the row's end, the place
        after it."""
        if x < len(self.columns):
            return Place(self.line, self.columns[x])
        return Place(self.line, (self.columns[-1] if self.columns else 0) + 1)


@dataclass(slots=True)
class DrawnMap:
    """A map found in a file, and the texts of the file about it; nothing is checked yet. ``fault`` is the
    reason why its rows cannot be read."""

    source: str
    rows: list[DrawnRow]
    title: str = ""
    author: str = ""
    fault: GdlError | None = None
    _width: int = field(init=False, default=0)

    def checked(self) -> Level:
        """Return the level.

        Rows are padded to one length; empty rows and columns around the map are left out. More goals than
        boxes are allowed: such a level is solved when every box is on a goal. Squares that the keeper could
        not reach even without boxes are not part of the game and do not count.

        Raises GdlError, with the place in the file: its rows have a :attr:`fault`, no keeper or two, no box,
        more boxes than goals, open walls, a keeper that cannot move, an unreachable box that is not on a
        goal, or a map that is too large.
        """
        if self.fault is not None:
            raise self.fault
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
        return Level(rows, visible(self.title), visible(self.author), self.rows[0].line)

    def _trim(self) -> None:
        """Remove empty rows above and below, and empty columns on the left."""
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
        keepers = self._find(_KEEPERS)
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
        """Return the squares that the keeper could reach without boxes. Raises GdlError if it can get out."""
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
        boxes = [square for square in self._find(_BOXES) if square in inside]
        goals = [square for square in self._find(GOALS) if square in inside]
        if not boxes:
            raise self._error("the level has no box", self.rows[0].place(0), "draw one as $, or * on a goal")
        if len(boxes) > len(goals):
            first_off = next(b for b in boxes if self._at(*b) == BOX)
            raise self._error(
                f"the level has {counted(len(boxes), 'box', 'boxes')} and only {counted(len(goals), 'goal')}",
                self._place(*first_off),
                "there may be more goals than boxes, not fewer",
            )

    def _can_move(self, x: int, y: int) -> None:
        for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
            ahead = self._at(x + dx, y + dy)
            if ahead != WALL and not (ahead in _BOXES and self._at(x + 2 * dx, y + 2 * dy) in WALL + _BOXES):
                return
        raise self._error("the keeper cannot move at all", self._place(x, y), "the level cannot be played")

    def _place(self, x: int, y: int) -> Place:
        return self.rows[y].place(x)

    def _error(self, message: str, place: Place, remedy: str) -> GdlError:
        return GdlError(message, place, remedy, self.source, "bad-level")

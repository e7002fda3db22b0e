r"""`LevelStage`: a level ready to be drawn: the map without moving things, and the places of its squares.

>>> from players.puzzles.sokoban.levels.level import Level
>>> stage = LevelStage.of_level(Level(("######", "#@ $.#", "######")))
>>> stage.text(Position((2,), 1))
'######\n# @$.#\n######'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ggp.boards.svg.tiles import OUTSIDE
from players.puzzles.sokoban.geometry import Geometry, Position, from_level, to_level
from players.puzzles.sokoban.levels.level import (
    BOX,
    BOX_ON_GOAL,
    FLOOR,
    GOAL,
    KEEPER,
    KEEPER_ON_GOAL,
    WALL,
    Level,
)
from players.puzzles.sokoban.lines import follow

Cell = tuple[int, int]
"""Row and column on the map, from 0."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelStage:
    """A level that can be drawn in any position.

    Attributes:
        geometry: its squares; ``geometry.places`` are places of ``ground``.
        start: the initial position.
        ground: rows of WALL, FLOOR, GOAL and OUTSIDE; BOX_ON_GOAL for a box on a goal that is out of reach.
        title: the level's title; may be empty.
    """

    geometry: Geometry
    start: Position
    ground: tuple[str, ...]
    title: str = ""

    @classmethod
    def of_level(cls, level: Level) -> LevelStage:
        """The stage of a level. Raises GdlError as ``from_level`` does."""
        geometry, start = from_level(level)
        return cls(geometry, start, _ground(level.rows, geometry), level.title)

    @classmethod
    def of_geometry(cls, geometry: Geometry, start: Position, title: str = "") -> LevelStage:
        """The stage of a level given only by its geometry: walls are drawn around its squares."""
        shift = geometry.places.min(axis=0) - 1
        moved = Geometry(geometry.neighbours, geometry.goals, geometry.places - shift)
        rows = to_level(moved, start).rows
        near = {(y + dy, x + dx) for y, x in moved.places.tolist() for dy in (-1, 0, 1) for dx in (-1, 0, 1)}
        rows = tuple(
            "".join(cell if (y, x) in near else " " for x, cell in enumerate(row))
            for y, row in enumerate(rows)
        )
        return cls(moved, start, _ground(rows, moved), title)

    @property
    def height(self) -> int:
        """Rows of the map."""
        return len(self.ground)

    @property
    def width(self) -> int:
        """Columns of the map."""
        return len(self.ground[0])

    def place(self, square: int) -> Cell:
        """Row and column of a square of the geometry, from 0."""
        y, x = self.geometry.places[square].tolist()
        return y, x

    def rows(self, position: Position) -> tuple[str, ...]:
        """The map with boxes and keeper, in the characters of XSB and OUTSIDE."""
        rows = [list(row) for row in self.ground]
        for box in position.boxes:
            y, x = self.place(box)
            rows[y][x] = BOX_ON_GOAL if rows[y][x] == GOAL else BOX
        y, x = self.place(position.keeper)
        rows[y][x] = KEEPER_ON_GOAL if rows[y][x] == GOAL else KEEPER
        return tuple("".join(row) for row in rows)

    def text(self, position: Position) -> str:
        """The position in XSB."""
        return "\n".join(row.replace(OUTSIDE, FLOOR).rstrip() for row in self.rows(position))

    def replay(self, steps: str) -> Iterator[tuple[Position, int]]:
        """The start, with direction -1, and then the position after each step that can be made, with the
        step's direction."""
        yield self.start, -1
        for direction, keeper, _, boxes in follow(self.geometry, self.start, steps):
            yield Position(tuple(sorted(boxes)), keeper), direction


def _ground(rows: tuple[str, ...], geometry: Geometry) -> tuple[str, ...]:
    """The rows without moving things. Floor that the keeper cannot reach is OUTSIDE."""
    goals = set(geometry.goals.tolist())
    squares = {(y, x): square for square, (y, x) in enumerate(geometry.places.tolist())}

    def cell(y: int, x: int, drawn: str) -> str:
        square = squares.get((y, x))
        if square is not None:
            return GOAL if square in goals else FLOOR
        return drawn if drawn in (WALL, BOX_ON_GOAL) else OUTSIDE

    return tuple("".join(cell(y, x, drawn) for x, drawn in enumerate(row)) for y, row in enumerate(rows))

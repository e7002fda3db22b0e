"""The compact geometry of a level: squares by number, their neighbours, and the goals.

The squares that the keeper could walk to without boxes are numbered from 0. One more number, the number of
squares, stands for everything outside: walls, and squares that are never entered. It is its own neighbour, so
that kernels need not check whether a step leads out.

Directions are 0 up, 1 right, 2 down, 3 left; ``direction ^ 2`` is the opposite one.

>>> from players.puzzles.sokoban.levels.level import Level
>>> geometry, start = from_level(Level(("#####", "#@$.#", "#####")))
>>> geometry.size, geometry.goals.tolist(), start
(3, [2], Position(boxes=(1,), keeper=0))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdl.errors import GdlError
from players.puzzles.sokoban.levels.level import BOX, BOX_ON_GOAL, GOAL, KEEPER, KEEPER_ON_GOAL, WALL, Level
from propnet.jit.arrays import Int32s

UP, RIGHT, DOWN, LEFT = range(4)
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""The change of row and column in each direction."""


@dataclass(frozen=True, slots=True)
class Position:
    """A position: the squares of the boxes, in ascending order, and the keeper's square."""

    boxes: tuple[int, ...]
    keeper: int


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """The map of a level, without boxes and keeper.

    Attributes:
        neighbours: int32, shape (size + 1, 4): the square next to each in every direction, ``size`` if there
            is none. If there is one, ``neighbours[neighbours[s, d], d ^ 2] == s``.
        goals: int32, ascending: the squares of the goals.
        places: int32, shape (size, 2): row and column of each square on a map, for display.
    """

    neighbours: Int32s
    goals: Int32s
    places: Int32s

    @property
    def size(self) -> int:
        """The number of squares; also the number of the outside."""
        return len(self.neighbours) - 1


def from_level(level: Level) -> tuple[Geometry, Position]:
    """Return the geometry of a level, and its first position.

    Boxes on goals that the keeper can never reach are left out together with their goals: they are always
    solved.

    Raises:
        GdlError: there is no keeper, or a box that is not on a goal can never be reached.
    """
    cells = {(y, x): cell for y, row in enumerate(level.rows) for x, cell in enumerate(row)}
    keepers = [place for place, cell in cells.items() if cell in (KEEPER, KEEPER_ON_GOAL)]
    if not keepers:
        raise GdlError("the level has no keeper", remedy="put one @ on its map")
    places = sorted({(y, x) for x, y in level.inside} & cells.keys())
    numbers = {place: number for number, place in enumerate(places)}
    boxes = [place for place, cell in cells.items() if cell in (BOX, BOX_ON_GOAL)]
    for y, x in boxes:
        if (y, x) not in numbers and cells[y, x] == BOX:
            raise GdlError(
                f"the keeper can never reach the box in row {y + 1}, column {x + 1}",
                remedy="there is no solution: take it off the map",
            )
    goals = [place for place, cell in cells.items() if cell in (GOAL, BOX_ON_GOAL, KEEPER_ON_GOAL)]
    size = len(places)
    neighbours = np.full((size + 1, 4), size, np.int32)
    for (y, x), number in numbers.items():
        for direction, (dy, dx) in enumerate(STEPS):
            neighbours[number, direction] = numbers.get((y + dy, x + dx), size)
    geometry = Geometry(
        neighbours,
        np.array(sorted(numbers[place] for place in goals if place in numbers), np.int32),
        np.array(places, np.int32).reshape(size, 2),
    )
    return geometry, Position(
        tuple(sorted(numbers[place] for place in boxes if place in numbers)), numbers[keepers[0]]
    )


def is_drawn(geometry: Geometry) -> bool:
    """Whether each square is drawn next to its neighbours, and to no others."""
    places = [(y, x) for y, x in geometry.places.tolist()]
    numbers = {place: number for number, place in enumerate(places)}
    drawn = [[numbers.get((y + down, x + right), geometry.size) for down, right in STEPS] for y, x in places]
    return len(numbers) == geometry.size and drawn == geometry.neighbours[:-1].tolist()


def to_level(geometry: Geometry, position: Position) -> Level:
    """Return a level that shows this position on the geometry's places: the opposite of
    :func:`from_level`."""
    height, width = (geometry.places.max(axis=0) - geometry.places.min(axis=0) + 3).tolist()
    top, left = (geometry.places.min(axis=0) - 1).tolist()
    rows = [[WALL] * width for _ in range(height)]
    goals, boxes = set(geometry.goals.tolist()), set(position.boxes)
    for square, (y, x) in enumerate(geometry.places.tolist()):
        pair = KEEPER + KEEPER_ON_GOAL if square == position.keeper else " " + GOAL
        if square in boxes:
            pair = BOX + BOX_ON_GOAL
        rows[y - top][x - left] = pair[square in goals]
    return Level(tuple("".join(row) for row in rows))

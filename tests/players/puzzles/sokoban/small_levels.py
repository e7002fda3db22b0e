"""Small levels, some drawn here, some by hypothesis."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st

from players.puzzles.sokoban.geometry import Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.lines import reachable

LEVELS = (
    Level(("########", "#  .   #", "# $#$  #", "# . @  #", "########")),
    Level(("#######", "#     #", "# .$. #", "#.$@$ #", "#     #", "#######")),
    Level(("######  ", "#    ###", "# $  . #", "#  $ . #", "#  @ ###", "######  ")),
    Level(("########", "#  ....#", "# $$$$ #", "#  @   #", "########")),
    Level(("##########", "#   ##  .#", "# $ $   .#", "#  @##  .#", "#   ## $ #", "##########")),
)


def numbered(*rows: str) -> tuple[Geometry, Position, dict[tuple[int, int], int]]:
    """The level of these rows, and the numbers of its squares by row and column."""
    geometry, position = from_level(Level(rows))
    return geometry, position, {(y, x): number for number, (y, x) in enumerate(geometry.places.tolist())}


def _framed(cells: list[str], width: int) -> Level:
    rows = ("".join(cells[at : at + width]) for at in range(0, len(cells), width))
    return Level(("#" * (width + 2), *(f"#{row}#" for row in rows), "#" * (width + 2)))


@st.composite
def small_levels(draw: st.DrawFn, height: int = 5, width: int = 6, boxes: int = 4) -> Level:
    """Rooms of up to so many squares with inner walls and boxes, some of them perhaps on goals, and sometimes
    a goal to spare. Not each can be solved; the keeper may not come to a box."""
    rows, columns = draw(st.integers(2, height)), draw(st.integers(3, width))
    cells = draw(st.lists(st.sampled_from("     ##"), min_size=rows * columns, max_size=rows * columns))
    keeper, *places = draw(st.permutations(range(rows * columns)))
    count = draw(st.integers(1, min(boxes, (len(places) - 1) // 2)))
    first = draw(st.sampled_from((count, count, count - 1)))  # the first goal
    goals = places[first : first + count + draw(st.integers(0, 1))]
    for place in goals:
        cells[place] = "."
    for place in places[:count]:
        cells[place] = "*" if place in goals else "$"
    cells[keeper] = "@"
    return _framed(cells, columns)


@st.composite
def mazes(draw: st.DrawFn, height: int = 6, width: int = 7, goals: int = 6) -> Geometry:
    """Rooms of up to so many squares with inner walls and goals, and no boxes."""
    rows, columns = draw(st.integers(2, height)), draw(st.integers(3, width))
    cells = draw(st.lists(st.sampled_from("     #"), min_size=rows * columns, max_size=rows * columns))
    keeper, *places = draw(st.permutations(range(rows * columns)))
    for place in places[: draw(st.integers(1, min(goals, len(places))))]:
        cells[place] = "."
    cells[keeper] = "@"
    return from_level(_framed(cells, columns))[0]


def random_position(seed: int) -> tuple[Geometry, Position]:
    """A map of up to 7 by 8 squares with walls here and there, up to 5 boxes, as many goals, the keeper."""
    rng = random.Random(seed)
    height, width = rng.randint(3, 7), rng.randint(3, 8)
    rows = [[" " if rng.random() < 0.8 else "#" for _ in range(width)] for _ in range(height)]
    rows[rng.randrange(height)][rng.randrange(width)] = "@"
    framed = ["#" * (width + 2), *("#" + "".join(row) + "#" for row in rows), "#" * (width + 2)]
    geometry, start = from_level(Level(tuple(framed)))
    squares = list(range(geometry.size))
    rng.shuffle(squares)
    count = min(5, len(squares) // 3)
    boxes = [square for square in squares[:count] if square != start.keeper]
    goals = squares[-len(boxes) :] if boxes else []
    whole = Geometry(geometry.neighbours, np.array(sorted(goals), np.int32), geometry.places)
    return whole, Position(tuple(sorted(boxes)), start.keeper)


def region(geometry: Geometry, walls: set[int], start: int) -> set[int]:
    """Where the keeper can walk to."""
    return reachable(geometry.neighbours.tolist(), walls | {geometry.size}, start)

"""The tiles of a level's picture as our own vector shapes; a square is one unit wide and high.

A picture consists of floor, walls and goals, with moving things over them: crates, and the keeper seen from
above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from players.puzzles.sokoban.levels.level import BOX_ON_GOAL, GOAL, WALL

OUTSIDE = "-"
"""A place that is neither wall nor floor: nothing is drawn there."""
_BACKGROUND = "#1d2129"
_FLOORS = "#cfc7b8", "#c7beae"
_SHADOW = "#a69d8d"
_WALL_SIDE, _WALL_TOP, _WALL_LIGHT, _JOINT = "#3d4a5c", "#5d6f87", "#70839d", "#4b5b70"
BRICKS = frozenset({_WALL_LIGHT, _JOINT})
"""Fills used on walls only."""


@dataclass(frozen=True, slots=True)
class Slab:
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Oval:
    """An ellipse around a centre."""

    x: float
    y: float
    wide: float
    high: float
    fill: str


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon."""

    points: tuple[tuple[float, float], ...]
    fill: str


Shape = Slab | Oval | Polygon


def _crate(frame: str, planks: str, joint: str, light: str) -> tuple[Shape, ...]:
    """A wooden crate: planks, a frame, and a board from corner to corner."""
    low, high, board = 0.08, 0.92, 0.13
    inner, end = low + board, high - board
    slope = 0.11
    corner = (inner, end), (inner, end - slope), (end - slope, inner)
    opposite = (end, inner), (end, inner + slope), (inner + slope, end)
    return (
        Slab(low + 0.03, low + 0.05, high - low, high - low, "#00000044", 0.06),
        Slab(low, low, high - low, high - low, frame, 0.06),
        Slab(inner, inner, end - inner, end - inner, planks),
        *(Slab(inner, inner + step * (end - inner) / 4, end - inner, 0.022, joint) for step in (1, 2, 3)),
        Polygon((*corner, *opposite), frame),
        Slab(low + 0.02, low + 0.02, high - low - 0.04, 0.03, light, 0.015),
        *(
            Oval(x, y, 0.022, 0.022, joint)
            for x in (low + board / 2, high - board / 2)
            for y in (low + board / 2, high - board / 2)
        ),
    )


CRATE = _crate("#a8692a", "#d39a4e", "#8a5420", "#c98a45")
CRATE_ON_GOAL = _crate("#3c7d3f", "#79b857", "#2c5f30", "#5fa257")

GOAL_MARK: tuple[Shape, ...] = (
    Oval(0.5, 0.5, 0.27, 0.27, "#b3404a"),
    Oval(0.5, 0.5, 0.19, 0.19, "#e4d9c6"),
    Oval(0.5, 0.5, 0.11, 0.11, "#b3404a"),
)


def keeper(direction: int) -> tuple[Shape, ...]:
    """The keeper, who looks up, right, down or left: shoulders, hands, and a cap with its peak ahead."""
    upright: tuple[Shape, ...] = (
        Oval(0.53, 0.57, 0.37, 0.25, "#00000044"),
        Oval(0.5, 0.53, 0.36, 0.21, "#26588f"),
        Oval(0.5, 0.51, 0.31, 0.16, "#3a78b8"),
        Oval(0.19, 0.36, 0.085, 0.1, "#e5b48c"),
        Oval(0.81, 0.36, 0.085, 0.1, "#e5b48c"),
        Oval(0.5, 0.33, 0.17, 0.16, "#8f2a24"),
        Oval(0.5, 0.49, 0.205, 0.205, "#c8423a"),
        Oval(0.5, 0.52, 0.13, 0.12, "#d95f52"),
        Oval(0.5, 0.5, 0.04, 0.04, "#8f2a24"),
    )
    return tuple(_turned(shape, direction) for shape in upright)


def _turned(shape: Shape, quarters: int) -> Shape:
    """An oval turned around the square's centre by quarters, clockwise."""
    assert isinstance(shape, Oval)
    for _ in range(quarters % 4):
        shape = Oval(1 - shape.y, shape.x, shape.high, shape.wide, shape.fill)
    return shape


def ground(rows: Sequence[str]) -> Iterator[Shape]:
    """All fixed parts of a level, from the back to the front; rows are those of
    :attr:`~ggp.sokoban.stage.LevelStage.ground`."""
    height, width = len(rows), len(rows[0])
    places = [(y, x) for y in range(height) for x in range(width)]
    yield Slab(0, 0, width, height, _BACKGROUND)
    inside = [(y, x) for y, x in places if rows[y][x] not in (OUTSIDE, WALL)]
    # Shapes of one colour follow each other, so that a picture draws them together.
    for parity in (0, 1):
        yield from (Slab(x, y, 1, 1, _FLOORS[parity]) for y, x in inside if (x + y) % 2 == parity)
    walls = {(y, x) for y, x in places if rows[y][x] == WALL}
    for y, x in sorted(walls):
        if y + 1 < height and rows[y + 1][x] not in (OUTSIDE, WALL):
            yield Slab(x, y + 1, 1, 0.13, _SHADOW)
    yield from _wall(walls, 0.0, 0.12, _WALL_SIDE)
    yield from _wall(walls, 0.06, 0.1, _WALL_TOP)
    for y, x in sorted(walls):
        yield Slab(x + 0.12, y + 0.12, 0.76, 0.035, _WALL_LIGHT, 0.015)
    for y, x in sorted(walls):
        yield Slab(x + 0.12, y + 0.49, 0.76, 0.03, _JOINT)
        yield Slab(x + 0.49, y + 0.19, 0.03, 0.3, _JOINT)
        yield Slab(x + 0.27, y + 0.52, 0.03, 0.33, _JOINT)
        yield Slab(x + 0.71, y + 0.52, 0.03, 0.33, _JOINT)
    for y, x in places:
        if rows[y][x] == GOAL:
            yield from moved(GOAL_MARK, x, y)
        elif rows[y][x] == BOX_ON_GOAL:
            yield from moved(CRATE_ON_GOAL, x, y)


def seen_from_afar(rows: Sequence[str], fills: Mapping[str, str]) -> Iterator[Shape]:
    """The fixed parts of a large level, in plain colours: kind by kind, in runs along the rows."""
    for kind, fill in fills.items():
        for y, row in enumerate(rows):
            runs = re.finditer(f"{re.escape(kind)}+", row)
            yield from (Slab(run.start(), y, len(run[0]), 1, fill) for run in runs)


def _wall(walls: set[tuple[int, int]], inset: float, radius: float, fill: str) -> Iterator[Shape]:
    """One layer of all walls: rounded squares, with bridges to the walls next to, below and diagonal to
    them."""
    for y, x in sorted(walls):
        yield Slab(x + inset, y + inset, 1 - 2 * inset, 1 - 2 * inset, fill, radius)
        right, below = (y, x + 1) in walls, (y + 1, x) in walls
        if right:
            yield Slab(x + 0.5, y + inset, 1, 1 - 2 * inset, fill)
        if below:
            yield Slab(x + inset, y + 0.5, 1 - 2 * inset, 1, fill)
        if right and below and (y + 1, x + 1) in walls:
            yield Slab(x + 0.5, y + 0.5, 1, 1, fill)


def moved(shapes: tuple[Shape, ...], x: float, y: float) -> Iterator[Shape]:
    """A tile's shapes on the square in column ``x`` and row ``y``."""
    for shape in shapes:
        if isinstance(shape, Polygon):
            yield Polygon(tuple((px + x, py + y) for px, py in shape.points), shape.fill)
        else:
            yield replace(shape, x=shape.x + x, y=shape.y + y)

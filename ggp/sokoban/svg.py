"""A level as SVG, its solution as animated SVG (SMIL), drawn by :mod:`ggp.boards.svg.tiles`."""

from __future__ import annotations

from collections.abc import Iterator

from ggp.boards.svg.markup import element, text_of
from ggp.boards.svg.sprites import DOWN, paths
from ggp.boards.svg.tiles import CRATE, CRATE_ON_GOAL, ground, keeper
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position

_UNIT = 48
_REST_SECONDS = 1.5
"""Seconds for which the first and the last position are shown."""


def svg(stage: LevelStage, steps: str = "", fps: float = 8.0) -> bytes:
    """The start of a level as an SVG file. With steps, which must be legal, the file has all of them as an
    animation that repeats, ``fps`` steps a second."""
    times = _times(len(steps), fps)
    height, width = stage.height * _UNIT, stage.width * _UNIT
    tiles = {"crate": CRATE, "placed": CRATE_ON_GOAL} | {f"keeper{way}": keeper(way) for way in range(4)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {stage.width} {stage.height}">',
        f"<title>{text_of(stage.title or 'Sokoban')}</title>",
        "<defs>",
        *(element("g", *paths(tile), id=name) for name, tile in tiles.items()),
        "</defs>",
        *paths(ground(stage.ground)),
        *_movers(stage, steps, times),
        "</svg>",
    ]
    return ("\n".join(parts) + "\n").encode()


def _times(steps: int, fps: float) -> tuple[float, list[float]]:
    """The length of the animation in seconds, and the time of each position as a share of it."""
    total = steps / fps + 2 * _REST_SECONDS
    return total, [(_REST_SECONDS + step / fps) / total for step in range(steps + 1)]


def _movers(stage: LevelStage, steps: str, times: tuple[float, list[float]]) -> Iterator[str]:
    """Boxes and keeper, each with its own animation."""
    positions = list(_followed(stage, steps))
    goals = set(stage.geometry.goals.tolist())
    for number in range(len(stage.start.boxes)):
        squares = [boxes[number] for boxes, _, _ in positions]
        yield from _box(stage, squares, goals, times)
    squares = [square for _, square, _ in positions]
    directions = [direction if direction >= 0 else DOWN for _, _, direction in positions]
    yield f"<g{_at(stage, squares[0])}>"
    yield from _motion(stage, squares, times)
    for direction in sorted(set(directions)):
        yield from _sometimes(f"keeper{direction}", [looks == direction for looks in directions], times)
    yield "</g>"


def _followed(stage: LevelStage, steps: str) -> Iterator[tuple[list[int], int, int]]:
    """After each step: the square of each box in the order of the start, the keeper's square, and the
    direction."""
    boxes = list(stage.start.boxes)
    before: Position | None = None
    for position, direction in stage.replay(steps):
        if before is not None and position.boxes != before.boxes:
            (left,) = set(before.boxes) - set(position.boxes)
            (entered,) = set(position.boxes) - set(before.boxes)
            boxes[boxes.index(left)] = entered
        before = position
        yield list(boxes), position.keeper, direction


def _box(
    stage: LevelStage, squares: list[int], goals: set[int], times: tuple[float, list[float]]
) -> Iterator[str]:
    yield f"<g{_at(stage, squares[0])}>"
    yield from _motion(stage, squares, times)
    placed = [square in goals for square in squares]
    yield from _sometimes("crate", [not on for on in placed], times)
    yield from _sometimes("placed", placed, times)
    yield "</g>"


def _at(stage: LevelStage, square: int) -> str:
    y, x = stage.place(square)
    return f' transform="translate({x} {y})"'


def _motion(stage: LevelStage, squares: list[int], times: tuple[float, list[float]]) -> Iterator[str]:
    """The motion of a thing over the map: it stands, or goes evenly from one position to the next."""
    last = len(squares) - 1
    if all(square == squares[0] for square in squares):
        return
    total, when = times
    keys = [
        step
        for step in range(last + 1)
        if step in (0, last) or not squares[step - 1] == squares[step] == squares[step + 1]
    ]
    spots = [stage.place(squares[step]) for step in keys]
    values = ";".join(f"{x} {y}" for y, x in (spots[0], *spots, spots[-1]))
    moments = ";".join(f"{moment:.6g}" for moment in (0.0, *(when[step] for step in keys), 1.0))
    yield (
        f'<animateTransform attributeName="transform" type="translate" dur="{total:.3f}s" '
        f'repeatCount="indefinite" values="{values}" keyTimes="{moments}"/>'
    )


def _sometimes(tile: str, shown: list[bool], times: tuple[float, list[float]]) -> Iterator[str]:
    """A tile that is visible in some positions only."""
    if all(shown):
        yield f'<use href="#{tile}"/>'
        return
    if not any(shown):
        return
    total, when = times
    changes = [step for step in range(1, len(shown)) if shown[step] != shown[step - 1]]
    values = ";".join(_visibility(shown[step]) for step in (0, *changes))
    moments = ";".join(f"{moment:.6g}" for moment in (0.0, *(when[step] for step in changes)))
    yield (
        f'<use href="#{tile}" visibility="{_visibility(shown[0])}">'
        f'<animate attributeName="visibility" calcMode="discrete" dur="{total:.3f}s" '
        f'repeatCount="indefinite" values="{values}" keyTimes="{moments}"/></use>'
    )


def _visibility(shown: bool) -> str:
    return "visible" if shown else "hidden"

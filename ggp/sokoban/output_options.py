"""The output of ``ggp solve`` for Sokoban: findings, an animation, a file. A level is drawn as SVG and its
solution as animated SVG (SMIL), with the tiles of :mod:`ggp.boards.svg.tiles`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console

from gdl.errors import GdlError
from gdl.words import counted
from ggp import output_file
from ggp.boards.svg.markup import element, text_of
from ggp.boards.svg.sprites import DOWN, paths
from ggp.boards.svg.tiles import CRATE, CRATE_ON_GOAL, ground, keeper
from ggp.sokoban.findings import findings, show_findings
from ggp.sokoban.glyphs import animate
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """The options of ``ggp solve`` for Sokoban.

    Attributes:
        fps: steps a second of the animation; None for no animation.
        output: the file to be written.
        explain: whether the findings of the analysis are printed first.
    """

    fps: float | None = None
    output: Path | None = None
    explain: bool = False

    def check(self, several: bool) -> None:
        """Raise GdlError for options that conflict or cannot be met, before a search begins."""
        if several:
            raise GdlError("this is shown for one level only", remedy="leave out --all, or name FILE:N")
        if self.output is not None:
            _check_suffix(self.output)

    def before(self, console: Console, stage: LevelStage, as_json: bool) -> None:
        """Print the findings before the search, if asked for."""
        if self.explain and as_json:
            found = [finding.as_json(stage) for finding in findings(stage)]
            console.file.write(orjson.dumps({"found": found}).decode() + "\n")
        elif self.explain:
            show_findings(console, stage, findings(stage))
            console.print()

    def after(self, console: Console, stage: LevelStage, steps: str | None, solver: str) -> None:
        """Write the file and show the animation, as asked for; ``steps`` is None if there is no solution.
        Raises KeyboardInterrupt if the user stops the animation; the file is written by then."""
        if self.output is not None and (steps is not None or self.output.suffix.lower() == ".svg"):
            write_file(self.output, stage, steps or "", self.fps or _DEFAULT_FPS, solver)
        if steps is not None and self.fps is not None:
            animate(console, stage, steps, self.fps)


SUFFIXES = (".svg", ".sok", ".lurd")
_DEFAULT_FPS = 8.0


def _check_suffix(path: Path) -> None:
    """Raise GdlError if the file's name has no known ending."""
    if path.suffix.lower() not in SUFFIXES:
        raise GdlError(
            f"{path} does not say what to write", remedy=f"let its name end in {', '.join(SUFFIXES)}"
        )


def write_file(
    path: Path, stage: LevelStage, steps: str = "", fps: float = _DEFAULT_FPS, solver: str = ""
) -> None:
    """Write a level and, if steps are given, its solution.

    Args:
        path: the file; its name ends in one of SUFFIXES. ``.svg`` moves if there are steps, otherwise it
            shows the start; ``.sok`` is level and solution as text; ``.lurd`` has the steps alone.
        stage: the level.
        steps: legal steps, or none.
        fps: steps a second of an animation.
        solver: the solver's name, for ``.sok``.

    Raises:
        GdlError: as :func:`_check_suffix`, or the file cannot be written.
    """
    _check_suffix(path)
    match path.suffix.lower():
        case ".svg":
            data = svg(stage, steps, fps)
        case ".sok":
            data = _snapshot(stage, steps, solver).encode()
        case _:
            data = f"{steps}\n".encode()
    output_file.write_file(path, data)


def _snapshot(stage: LevelStage, steps: str, solver: str = "") -> str:
    """A level and its solution as a ``.sok`` file."""
    pushes = sum(letter.isupper() for letter in steps)
    parts = [stage.text(stage.start), ""]
    if stage.title:
        parts += [f"Title: {stage.title}", ""]
    by = f", by {solver}" if solver else ""
    parts.append(f"Solution: {counted(len(steps), 'move')}, {counted(pushes, 'push', 'pushes')}{by}")
    parts += [steps[at : at + 70] for at in range(0, len(steps), 70)]
    return "\n".join(parts) + "\n"


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

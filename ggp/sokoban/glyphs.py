"""A level in a terminal, two columns for each square: with colours, in Unicode or in plain characters; and a
solution in motion."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ggp.boards.looks import Span
from ggp.boards.svg.tiles import OUTSIDE
from ggp.boards.text import TextCanvas
from ggp.sokoban.stage import LevelStage
from players.puzzles.sokoban.geometry import Position
from players.puzzles.sokoban.levels.level import BOX, BOX_ON_GOAL, FLOOR, GOAL, KEEPER, KEEPER_ON_GOAL, WALL

_Frame = tuple[int, int, int, int]
"""Top, left, height and width of a part of the map."""

_FLOOR = "on #262a33"
_PLAIN: dict[str, str] = {
    OUTSIDE: "  ",
    WALL: "##",
    FLOOR: "  ",
    GOAL: "()",
    BOX: "[]",
    BOX_ON_GOAL: "{}",
    KEEPER: "@@",
    KEEPER_ON_GOAL: "++",
}
_UNICODE: dict[str, str] = {**_PLAIN, WALL: "██", KEEPER: "◖◗", KEEPER_ON_GOAL: "◖◗"}
_STYLES: dict[str, str] = {
    OUTSIDE: "",
    WALL: "#6b7280 on #6b7280",
    FLOOR: _FLOOR,
    GOAL: f"bold #f87171 {_FLOOR}",
    BOX: "bold #4a2c08 on #d9963a",
    BOX_ON_GOAL: "bold #083a1c on #4fbf67",
    KEEPER: f"bold #60b8ff {_FLOOR}",
    KEEPER_ON_GOAL: "bold #60b8ff on #6b2f33",
}
LEGEND = ((KEEPER, "keeper"), (BOX, "box"), (GOAL, "goal"), (BOX_ON_GOAL, "box on a goal"))


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign to be shown on a square: two characters at most, and their rich style."""

    text: str
    style: str = ""


def in_unicode(console: Console) -> bool:
    """Whether the console is a terminal that shows more than ASCII."""
    return console.is_terminal and console.encoding.lower().startswith("utf")


def cell(kind: str, unicode: bool) -> Span:
    """The two columns of a square that holds ``kind``, a character of XSB or OUTSIDE."""
    return (_UNICODE if unicode else _PLAIN)[kind], _STYLES[kind]


def draw(
    stage: LevelStage,
    position: Position,
    unicode: bool = True,
    *,
    marks: Mapping[int, Mark] | None = None,
    frame: _Frame | None = None,
) -> tuple[tuple[Span, ...], ...]:
    """The rows of a position, in spans.

    Args:
        stage: the level.
        position: the boxes and the keeper.
        unicode: whether characters beyond ASCII may be used.
        marks: signs to show on squares instead of their contents.
        frame: the part of the map that is drawn; None for all of it.
    """
    marked = {stage.place(square): mark for square, mark in (marks or {}).items()}
    top, left, height, width = frame or (0, 0, stage.height, stage.width)
    canvas = TextCanvas()
    for y, row in enumerate(stage.rows(position)[top : top + height], top):
        for x, kind in enumerate(row[left : left + width], left):
            text, style = cell(kind, unicode)
            if mark := marked.get((y, x)):
                text, style = f"{mark.text:<2}", f"{style} {mark.style}".rstrip()
            canvas.put(y - top, 2 * (x - left), text, style)
    return canvas.lines()


def as_text(lines: Iterable[Iterable[Span]]) -> Text:
    """Drawn rows as one text for rich."""
    return Text("\n").join(Text.assemble(*line) for line in lines)


def legend(unicode: bool) -> Text:
    """The meaning of the signs, in one line."""
    text = Text()
    for kind, meaning in LEGEND:
        sign, style = cell(kind, unicode)
        text.append(sign, style).append(f" {meaning}  ")
    text.rstrip()
    return text


def around(stage: LevelStage, position: Position, room: tuple[int, int]) -> _Frame:
    """The part of the map around the keeper that fits in ``room``, rows and columns of squares."""
    y, x = stage.place(position.keeper)
    height, width = min(room[0], stage.height), min(room[1], stage.width)
    top = min(max(0, y - height // 2), stage.height - height)
    left = min(max(0, x - width // 2), stage.width - width)
    return top, left, height, width


def frame_of(stage: LevelStage, squares: Iterable[int], margin: int = 2) -> _Frame:
    """The part of the map with these squares (one at least) and some around them."""
    places = [stage.place(square) for square in squares]
    top, left = (max(0, min(place[i] for place in places) - margin) for i in (0, 1))
    bottom = min(stage.height, max(y for y, _ in places) + margin + 1)
    right = min(stage.width, max(x for _, x in places) + margin + 1)
    return top, left, bottom - top, right - left


_LINES_BELOW = 3
_MOST_FPS = 120.0


def animate(console: Console, stage: LevelStage, steps: str, fps: float) -> None:
    """Show legal steps one after the other, ``fps`` a second; the last position stays. Nothing is shown if
    the console is not a terminal. On a map larger than the terminal the view follows the keeper.

    On a slow terminal steps are left out to keep the time. Raises KeyboardInterrupt after Ctrl-C, with the
    terminal restored.
    """
    if not console.is_terminal:
        return
    fps = min(fps, _MOST_FPS)
    unicode = in_unicode(console)
    pushes = 0
    began = time.monotonic()
    with Live(console=console, auto_refresh=False) as live:
        for number, (position, _) in enumerate(stage.replay(steps)):
            pushes += number > 0 and steps[number - 1].isupper()
            if number < len(steps) and time.monotonic() > began + (number + 1) / fps:
                continue
            room = max(3, console.height - _LINES_BELOW), max(3, console.width // 2)
            below = Text(f"step {number} of {len(steps)}, push {pushes}", "dim")
            picture = as_text(draw(stage, position, unicode, frame=around(stage, position, room)))
            live.update(Group(picture, below), refresh=True)
            pause = began + (number + 1) / fps - time.monotonic()
            if pause > 0 and number < len(steps):
                time.sleep(pause)

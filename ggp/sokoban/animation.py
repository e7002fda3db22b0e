"""A solution in motion, in the terminal."""

from __future__ import annotations

import time

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ggp.sokoban.glyphs import around, as_text, draw, in_unicode
from ggp.sokoban.stage import LevelStage

_LINES_BELOW = 3
_MOST_FPS = 120.0


def animate(console: Console, stage: LevelStage, steps: str, fps: float) -> None:
    """Show legal steps one after the other, ``fps`` a second; the last position stays. Where the console is
    no terminal nothing is shown. On a map larger than the terminal it follows the keeper.

    A terminal that is slower leaves steps out and keeps the time. Raises KeyboardInterrupt, with the
    terminal as it was, where a person presses Ctrl-C.
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

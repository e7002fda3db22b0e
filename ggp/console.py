"""The terminal: text is printed as it is, and every character of it can be seen.

Names of games, players and levels come from files of strangers. So no text is markup (``[red]``) or a code
for an emoji (``:smile:``), and controls become escapes. Coloured text is a :class:`rich.text.Text`. A test of
the tree forbids other consoles.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from gdl.visible import visible


class _VisibleConsole(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text, keep="\n\t"), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(visible(segment.text, keep="\n"), segment.style)


def new_console(**options: Any) -> Console:
    """A console; ``options`` as for :class:`rich.console.Console`, and nothing is coloured by its looks."""
    return _VisibleConsole(markup=False, emoji=False, highlight=False, **options)


def text_column(form: str) -> TextColumn:
    """A column of a progress display: ``{task.description}``."""
    return TextColumn(form, markup=False)


def spinner(console: Console) -> Progress:
    """A display whose tasks are lines: a spinner, the task's description, and its time."""
    columns = SpinnerColumn("line"), text_column("{task.description}"), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def noted_ctrl_c() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is only noted, so that the search ends between two steps; the second is an
    interruption as always."""
    noted = False

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, before)

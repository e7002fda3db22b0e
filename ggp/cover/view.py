"""What people see of a search for covers: how far it is, and what came of it."""

from __future__ import annotations

import sys

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn
from rich.table import Table
from rich.text import Text

from gdl.words import counted
from ggp.console import new_console, text_column
from players.puzzles.cover.outcome import CoverResult


class CoverView:
    """Shows the search while it goes on (in a terminal), then its result. A context manager. ``name`` is for
    people."""

    def __init__(self, name: str) -> None:
        self.console = new_console(soft_wrap=True)
        errors = new_console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            text_column("{task.description}"),
            BarColumn(),
            TaskProgressColumn(show_speed=False),
            text_column("{task.fields[told]}"),
            console=errors,
            transient=True,
            disable=not errors.is_terminal,
        )
        self._task = self._progress.add_task(name, total=1.0, told="loading or compiling kernels")

    def __enter__(self) -> CoverView:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def watch(self, result: CoverResult) -> None:
        """How far the search is; may be called often."""
        told = f"{counted(result.solutions, 'solution')}, {counted(result.nodes, 'node')}"
        left = result.seconds_left
        if left:
            told += f", about {duration(left)} to go"
        self._progress.update(self._task, completed=result.progress, told=told)

    def solution(self, number: int, text: str) -> None:
        """One solution; ``number`` counts from 1."""
        sys.stdout.write(f"solution {number}\n{text}\n\n")

    def show(self, result: CoverResult, stopped: str | None) -> None:
        """What the search has found out. ``stopped`` says why it ended early, None: it did not."""
        table = Table.grid(padding=(0, 2))
        more = "" if result.complete else " so far" if stopped else ", there may be more: --all tells them"
        table.add_row("solutions", Text(f"{result.solutions:,}{more}"))
        if stopped and not result.complete:
            table.add_row("searched", f"{result.progress:.2%}, {stopped}")
        table.add_row("nodes", f"{result.nodes:,}")
        table.add_row("engine", result.engine)
        if result.reduction:
            brought = ", ".join(
                f"{name.replace('_', ' ')} {number:,}" for name, number in result.reduction.items()
            )
            table.add_row("reduction", brought)
        table.add_row("time", f"{result.seconds_cpu:.2f} s CPU, {result.seconds_wall:.2f} s wall")
        self.console.print(table)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(12.3), duration(4000), duration(1e6)
    ('12 s', '67 min', '278 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{min(seconds / 3600, 1e9):.0f} h"

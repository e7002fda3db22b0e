"""What is under way, a line each with its seconds: only in a terminal, and gone when it is over."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

from ggp.console import text_column


def spinner(console: Console) -> Progress:
    """A display whose tasks are lines: a spinner, the task's description, and its time."""
    columns = SpinnerColumn("line"), text_column("{task.description}"), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)

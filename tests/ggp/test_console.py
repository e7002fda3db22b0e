"""Names that look like markup or codes of emoji are printed as they are."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from ggp.console import new_console, text_column
from ggp.game import Game
from tests.ggp.program import ggp

NAMES = [
    ":smile:",
    "[red]x[/red]",
    "[/]",
    "[bold",
    "a[link=http://x]b",
    ":warning:[x]",
    "\\[x]",
    "[@click=app.quit]",
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_markup(name: str) -> None:
    told = io.StringIO()
    console = new_console(file=told, width=200, force_terminal=True, color_system=None)
    console.print(name)
    console.print(f"{name} in a line", style="red", soft_wrap=True)
    table = Table(f"{name} heads", title=f"{name} above")
    table.add_row(f"{name} in a cell")
    console.print(table)
    with Progress(text_column("{task.description}"), console=console) as progress:
        progress.add_task(f"{name} is under way")
    lines = told.getvalue()
    for text in (f"{name}\n", "in a line", "heads", "above", "in a cell", "is under way"):
        assert text in lines and (text.endswith("\n") or f"{name} {text}" in lines), text


def test_a_file_with_such_a_name_is_played(tmp_path: Path) -> None:
    path = tmp_path / ":smile:[red]x[bold].kif"
    path.write_text(Game.load("tictactoe").text)
    done = ggp("play", str(path), "--players", "random,random", "--clock", "0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(":smile:[red]x[bold] on the ")


def test_colours_are_texts() -> None:
    told = io.StringIO()
    new_console(file=told, force_terminal=True, color_system="standard").print(Text(":smile:[red]", "red"))
    assert told.getvalue() == "\x1b[31m:smile:[red]\x1b[0m\n"

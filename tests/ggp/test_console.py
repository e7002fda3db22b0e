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

EVIL = "e\x1b[31m\x9b31m\u202e", r"e\u001b[31m\u009b31m\u202e"
"""A name that drives a terminal, and how it is shown."""


@pytest.mark.parametrize(("name", "shown"), [*zip(NAMES, NAMES, strict=True), EVIL])
def test_nothing_is_markup_and_nothing_drives_the_terminal(name: str, shown: str) -> None:
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
    for text in ("\n", " in a line", " heads", " above", " in a cell", " is under way"):
        assert f"{shown}{text}" in lines, text
    assert not {"\x9b", "\u202e"} & set(lines) and "\x1b[31m" not in lines


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

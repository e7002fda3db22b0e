"""What commands print can be seen, in every locale."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from ggp.console import new_console, text_column
from ggp.game import Game
from ggp.printing import prepare_streams, show
from tests.gdl.test_visible import texts
from tests.ggp.program import ggp


def printed(text: str | bytes, encoding: str = "utf-8") -> str:
    """What is printed to a stream of this encoding, as its bytes say."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        prepare_streams()
        show(text, head="ggp:", end="")
        stream.flush()
        return stream.buffer.getvalue().decode("utf-8" if isinstance(text, bytes) else encoding)  # type: ignore[attr-defined]


@given(texts, st.sampled_from(["utf-8", "ascii", "latin-1", "shift-jis"]))
def test_all_can_be_seen_and_written(text: str, encoding: str) -> None:
    shown = printed(text, encoding)
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert encoding != "ascii" or shown.isascii()


@given(st.text(), st.sampled_from(["utf-8", "ascii"]))
def test_json_stays_the_same_json(text: str, encoding: str) -> None:
    line = json.dumps(text, ensure_ascii=False)
    assert json.loads(printed(line, encoding).removeprefix("ggp:")) == text


def test_documents_are_utf_8_in_every_locale() -> None:
    assert printed("naïve".encode(), "ascii") == "naïve"
    assert printed("naïve", "ascii") == "ggp:na\\u00efve"


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
    with Progress(text_column("{task.description}"), console=console, auto_refresh=False) as progress:
        progress.add_task(f"{name} is under way")
    lines = told.getvalue()
    for text in ("\n", " in a line", " heads", " above", " in a cell"):
        assert f"{shown}{text}" in lines, text
    # The column of a progress is measured before its text is made visible, which may cut it.
    assert f"{shown} is under way" in lines or name != shown
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

"""What commands print can be seen, in every locale."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress
from rich.table import Table

from ggp.console import new_console, text_column
from ggp.printing import prepare_streams, show
from tests.gdl.test_visible import texts

EVIL = "e\x1b[31m\x9b31m\u202e"


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


def test_a_console_shows_every_character_that_drives_a_terminal() -> None:
    told = io.StringIO()
    console = new_console(file=told, width=200, force_terminal=True, color_system=None)
    console.print(EVIL)
    table = Table(f"{EVIL} heads", title=f"{EVIL} above")
    table.add_row(f"{EVIL} in a cell")
    console.print(table)
    with Progress(text_column("{task.description}"), console=console, auto_refresh=False) as progress:
        progress.add_task(f"{EVIL} is under way")
    lines = told.getvalue()
    shown = r"e\u001b[31m\u009b31m\u202e"
    assert all(f"{shown}{end}" in lines for end in ("\n", " heads", " above", " in a cell"))
    assert not {"\x9b", "\u202e"} & set(lines)
    assert "\x1b[31m" not in lines

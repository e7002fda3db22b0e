"""Packing puzzles are solved on the page's behalf, and their pieces are drawn in a frame that runs nothing of
strangers."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from gdl.errors import GdlError
from ggp.web.puzzles.puzzle_process import PuzzleBench

SMALL = b"packing cubes\ntitle <b>Two</b>\npiece A\n##\npiece B\n##\nresult 2 x 2\n"


def quiet(kind: str, **news: Any) -> None:
    """Nobody listens."""


def order(data: bytes = b"", name: str = "") -> dict[str, Any]:
    return {"do": "pack", "name": name, "data": base64.b64encode(data).decode(), "seconds": 20.0}


def test_all_solutions_of_a_small_packing_are_found_and_drawn() -> None:
    told = PuzzleBench().answer(order(SMALL), quiet)
    assert told["complete"]
    assert told["solutions"] == 1
    assert told["apart"]
    page = str(told["page"])
    assert "<b>Two</b>" not in page
    assert "&lt;b&gt;Two&lt;/b&gt;" in page
    assert len(re.findall(r"<script", page)) == 3


def test_a_packing_that_comes_along_comes_apart() -> None:
    told = PuzzleBench().answer(order(name="burr.packing"), quiet)
    assert told["complete"]
    assert told["solutions"] >= 1
    assert told["apart"]


def test_what_is_no_packing_is_refused() -> None:
    with pytest.raises(GdlError):
        PuzzleBench().answer(order(b"(role x)"), quiet)

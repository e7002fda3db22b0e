"""Excerpts: the caret stands below the place, whatever the line is like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gdl.excerpt
from gdl.errors import Place
from gdl.excerpt import excerpt
from gdl.words import counted

BREAKS = (*range(10, 14), *range(28, 31), 0x85, 0x2028, 0x2029)


def test_the_caret_marks_the_group_or_the_word() -> None:
    text = "(role x)\n(<= (p ?x) (not (q ?x)) tail)\n"
    assert excerpt(text, Place(2, 12)) == (
        "    2 | (<= (p ?x) (not (q ?x)) tail)",
        "      |            ^^^^^^^^^^^^",
    )
    marked = excerpt(text, Place(2, 25))
    assert marked is not None
    assert marked[1].strip(" |") == "^^^^"
    open_group = excerpt("(a (b", Place(1, 4))
    assert open_group is not None
    assert open_group[1].strip(" |") == "^^"


def test_no_place_no_excerpt() -> None:
    for place in (None, Place(), Place(9, 1), Place(1, 40)):
        assert excerpt("(role x)", place) is None


@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="".join(map(chr, BREAKS))),
        max_size=300,
    ),
    st.integers(1, 300),
    st.integers(24, 120),
)
def test_excerpts_fit_and_show_no_controls(line: str, column: int, width: int) -> None:
    shown = excerpt(line, Place(1, column), width)
    assert (shown is None) == (column > len(line) + 1 or not line)
    if shown is not None:
        assert all(part.isprintable() and part.count("\n") == 0 for part in shown)
        assert len(shown[0]) <= max(width, 28)
        assert "^" in shown[1]


@given(st.integers(1, 200), st.integers(60, 100))
def test_the_caret_is_below_its_letter_in_long_lines(at: int, width: int) -> None:
    line = "a" * (at - 1) + " X " + "b" * 200
    shown = excerpt(line, Place(1, at + 1), width)
    assert shown is not None
    assert shown[0][shown[1].index("^")] == "X"


def test_singulars() -> None:
    assert [counted(n, "step") for n in (0, 1, 2, 1000)] == ["0 steps", "1 step", "2 steps", "1,000 steps"]
    assert [counted(n, "match", "matches") for n in (1, 2)] == ["1 match", "2 matches"]


def test_only_the_part_of_a_line_that_is_shown_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def count(rest: str, *, of: Callable[[str], Any]) -> Any:
        nonlocal looked
        looked += len(rest)
        return of(rest)

    for name in ("_shown", "extent"):
        monkeypatch.setattr(gdl.excerpt, name, functools.partial(count, of=getattr(gdl.excerpt, name)))
    for text in ("not " * 100_000, "(" * 400_000, "x" * 400_000):
        for column in (1, 5, 200_001, 400_000):
            assert excerpt(text, Place(1, column)) is not None
    assert looked < 12 * 1000

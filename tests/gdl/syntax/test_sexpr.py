"""Reading KIF into expressions: structure, places, comments, faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import ParseError, Place
from gdl.reading import plain
from gdl.syntax.sexpr import MAX_DEPTH, Atom, Group, Source, read
from tests.gdl.syntax.nested import Nested, nested, shape, write

words = st.text("abz?19<=_+'\"|#é", min_size=1, max_size=5)
blanks = st.text(" \t\n\r\f", min_size=1, max_size=3) | st.just(" ; a (comment\n")


@given(st.lists(nested(words), max_size=5), st.data())
def test_what_is_written_is_read_whatever_the_blanks(sentences: list[Nested], data: st.DataObject) -> None:
    text = "\n".join(write(s, lambda: data.draw(blanks)) for s in sentences)
    assert [shape(p) for p in read(text)[1]] == sentences


@given(st.text("ab\n\r\t;()", max_size=40), st.integers(0, 40))
def test_places_count_lines_and_columns_from_one(text: str, offset: int) -> None:
    before = plain(text)[:offset]
    offset = len(before)
    expected = Place(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
    assert Source(text).place(offset) == expected


def test_comments_are_kept_only_when_asked_for() -> None:
    text = "; one\n(a ; two\n b)"
    assert [shape(p) for p in read(text)[1]] == [["a", "b"]]
    assert [shape(p) for p in read(text, keep_comments=True)[1]] == ["; one", ["a", "; two", "b"]]


def test_the_deepest_nesting_that_is_allowed_is_read() -> None:
    (part,) = read("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)[1]
    for _ in range(MAX_DEPTH):
        assert isinstance(part, Group)
        (part,) = part.parts
    assert part == Atom("a", MAX_DEPTH)


@pytest.mark.parametrize("text", ["(role x)\n（init p)", "(role x)\n(init p）", "(role x)\n(init [p)"])
def test_brackets_that_are_no_parentheses_are_blamed_where_parentheses_do_not_match(text: str) -> None:
    if "[" in text:
        text += ")"
    with pytest.raises(ParseError, match="is not a sign of KIF") as caught:
        read(text)
    place = caught.value.place
    assert place is not None and text.splitlines()[1][place.column - 1] in "（）["
    with pytest.raises(ParseError, match="closes nothing"):
        read("; [a remark]\n(role x))")

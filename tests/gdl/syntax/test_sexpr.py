"""Reading KIF into expressions: structure, places, comments, faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import ParseError, Place
from gdl.reading import plain
from gdl.syntax.sexpr import MAX_CHARACTERS, MAX_DEPTH, Atom, Group, Source, read
from tests.gdl.syntax.nested import Nested, nested, shape, write

words = st.text("abz?19<=_+'\"|#é", min_size=1, max_size=5)
blanks = st.text(" \t\n\r\f", min_size=1, max_size=3) | st.just(" ; a (comment\n")


@given(st.lists(nested(words), max_size=5), st.data())
def test_what_is_written_is_read_whatever_the_blanks(sentences: list[Nested], data: st.DataObject) -> None:
    text = "\n".join(write(s, lambda: data.draw(blanks)) for s in sentences)
    assert [shape(p) for p in read(text)[1]] == sentences


@given(st.lists(nested(words), min_size=1, max_size=5))
def test_offsets_point_at_what_was_read(sentences: list[Nested]) -> None:
    text = "\n".join(map(write, sentences))
    source, top = read(text)
    todo = list(top)
    while todo:
        part = todo.pop()
        match part:
            case Atom(word, offset):
                assert text[offset : offset + len(word)] == word
            case Group(parts, offset, end):
                assert (text[offset], text[end]) == ("(", ")")
                todo.extend(parts)
        place = source.place(part.offset)
        line = text.split("\n")[place.line - 1]
        assert line[place.column - 1] == text[part.offset]


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


def test_a_byte_order_mark_and_windows_line_ends_are_blanks() -> None:
    assert [shape(p) for p in read("\ufeff(a\r\n b)\r\n")[1]] == [["a", "b"]]


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        ("(a\n (b)", Place(1, 1), "unclosed-parenthesis"),
        ("(a\n (b", Place(2, 2), "unclosed-parenthesis"),
        ("(a)\n  )", Place(2, 3), "unopened-parenthesis"),
        ("(a \x07)", Place(1, 4), "forbidden-character"),
        ("(" * (MAX_DEPTH + 1) + ")" * (MAX_DEPTH + 1), Place(1, MAX_DEPTH + 1), "nesting-too-deep"),
        ("a" * (MAX_CHARACTERS + 1), Place(1, 1), "text-too-large"),
    ],
)
def test_each_fault_is_reported_with_its_place(text: str, place: Place, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(text, "game.kif")
    assert (caught.value.place, caught.value.code, caught.value.source) == (place, code, "game.kif")
    assert caught.value.remedy
    assert str(caught.value).startswith(f"game.kif:{place}: ")


@pytest.mark.parametrize("sign", ["\x1b", "\x9b", "\u200b", "\u202e", "\u2066", "\ufffd", "\U000e0041"])
@pytest.mark.parametrize("word", ["{}", "a{}", "a{}b", "?a{}"])
def test_what_drives_terminals_or_turns_text_around_stands_in_no_word(sign: str, word: str) -> None:
    with pytest.raises(ParseError) as caught:
        read(f"(p\n {word.format(sign)})")
    assert caught.value.code == "forbidden-character"
    assert caught.value.place == Place(2, 2 + word.index("{"))
    assert str(caught.value).isprintable()


def test_words_of_any_script_are_read() -> None:
    assert [shape(p) for p in read("(naïve 棋 ♞ ход)")[1]] == [["naïve", "棋", "♞", "ход"]]


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

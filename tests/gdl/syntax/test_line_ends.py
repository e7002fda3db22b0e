"""LF, CR LF and CR end lines, nothing else does: rules, findings, places and excerpts do not mind which."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.checks.run import check_text
from gdl.errors import GdlError, Place
from gdl.excerpt import excerpt
from gdl.hints import read_hints
from gdl.reading import plain, text_of
from gdl.syntax.format import convert
from gdl.syntax.notation import Notation
from gdl.syntax.parser import parse_rules
from tests.examples import examples

SENTENCES: dict[Notation, tuple[str, list[str]]] = {
    "kif": (
        ";",
        ["(role a)", "(init (p 1))", "(<= (next (p ?x))\n  (true (p ?x)))", "(p", "(q ?x)", ")", ""],
    ),
    "infix": ("%", ["role(a)", "init(p(1))", "next(p(X)) :-\n  true(p(X)) & ~q", "p(", "q(X)", ")"]),
    "prolog": (
        "%",
        ["role(a).", "init(p(1)).", "next(p(X)) :-\n  true(p(X)), \\+ q.", "p(.", "/* two\nlines */"],
    ),
}
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
COMMENTS = st.text("ab (\f\v\x1c\x85\u2028\u2029'", max_size=6) | st.just(" draw: p as pawn") | st.none()


@st.composite
def texts(draw: st.DrawFn) -> tuple[Notation, str, str]:
    """A notation, a text of right and wrong sentences with comments, and the same with other line ends."""
    notation = draw(st.sampled_from(list(SENTENCES)))
    mark, sentences = SENTENCES[notation]
    lines = []
    for sentence in draw(st.lists(st.sampled_from([*sentences, ""]), min_size=1, max_size=8)):
        words = draw(COMMENTS)
        lines += (sentence if words is None else f"{sentence} {mark}{words}").split("\n")
    other = "".join(line + draw(ENDS) for line in lines)
    # CR and LF of two empty lines that meet are one line end.
    return notation, plain(other), draw(st.sampled_from(["", "\ufeff"])) + other


@examples(300)
@given(texts())
def test_rules_findings_and_layout_are_those_of_the_text_with_line_feeds(
    given_texts: tuple[Notation, str, str],
) -> None:
    notation, lf, other = given_texts

    def outcome(text: str) -> object:
        try:
            rules = parse_rules(text, notation=notation)
        except GdlError as error:
            return str(error)
        return (
            rules,
            [rule.place for rule in rules],
            convert(text, "auto", notation=notation),
            convert(text, "kif", notation=notation),
        )

    assert outcome(other) == outcome(lf)
    found = check_text(other, notation=notation)[1]
    assert found == check_text(lf, notation=notation)[1]
    lines = re.split("\r\n|\r|\n", other.removeprefix("\ufeff"))
    for one in found:
        shown = excerpt(other, one.place, 400)
        line = lines[one.place.line - 1]
        assert shown is None or [c for c in shown[0].partition("| ")[2] if c not in "? "] == [
            c for c in line if c.isprintable() and c not in "? "
        ]
        assert shown is not None or not line


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_comment_ends_where_its_line_does(end: str) -> None:
    text = end.join(["(role a) ; one", "; draw: p as pawn", "(init p) ; two", "; draw: q as oak", "(q ?x)"])
    rules = parse_rules(text)
    assert [str(rule.head) for rule in rules] == ["(role a)", "(init p)", "(q ?x)"]
    assert [rule.place for rule in rules] == [Place(1, 1), Place(3, 1), Place(5, 1)]
    assert rules.hints == read_hints(plain(text))[0] != ()
    assert [str(d.place) for d in check_text(text)[1] if d.code == "picture-hint"] == ["4:3"]


@pytest.mark.parametrize("sign", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_other_signs_end_no_line(sign: str) -> None:
    text = f"(role a) ; one {sign} two\n(q ?x)"
    (found,) = [d for d in check_text(text)[1] if d.code == "unsafe-fact" or "?x" in d.message][:1]
    assert found.place.line == 2
    shown = excerpt(text, found.place)
    assert shown is not None and "(q ?x)" in shown[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=30))
def test_texts_come_back_from_their_bytes(encoding: str, text: str) -> None:
    assert text_of(text.encode(encoding)) == text
    assert text_of(text.replace("\n", "\r\n").encode(encoding)) == text


@given(st.binary(max_size=60))
def test_any_bytes_are_text_or_refused_at_a_nul(data: bytes) -> None:
    try:
        text = text_of(data, "here")
    except GdlError as error:
        refused = str(error)
        text = data.decode("latin-1")
        assert "\0" in text
        assert refused.startswith("here:")
        return
    assert "\r" not in text
    assert text_of(text.encode()) == plain(text)


def test_old_files_are_latin_1() -> None:
    assert text_of(b"(role a) ; caf\xe9\r(init p)") == "(role a) ; caf\u00e9\n(init p)"
    with pytest.raises(GdlError, match=r"^x\.kif:2:3: this is not text \(save the file as UTF-8\)$"):
        text_of(b"\xe9\r\xe9\xe9\0", "x.kif")


def test_public_games_mean_the_same_with_other_line_ends(corpus_games: list[Path]) -> None:
    for path in corpus_games[::40]:
        text = text_of(path.read_bytes())
        for end in ("\r\n", "\r"):
            assert parse_rules(text.replace("\n", end)) == parse_rules(text), path.stem

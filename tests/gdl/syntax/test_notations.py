"""Infix GDL and Prolog alike: which of them a text is in, how deep it may nest, what any text comes to."""

from __future__ import annotations

import contextlib
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.checks.run import check_text
from gdl.errors import ParseError
from gdl.syntax.format import convert
from gdl.syntax.notation import FORMS, Notation, form_of
from gdl.syntax.parser import parse_rules
from gdl.syntax.sexpr import MAX_DEPTH
from tests.gdl.syntax.made_rules import renamed
from tests.places import GAMES


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("p(a). p(b).", "prolog"),
        ("p(a) p(b)", "infix"),
        ("p(a) :- q(a)", "infix"),
        ("p :- a, b", "prolog"),
        ("p :- a & b.", "infix"),
        ("p :- \\+ a", "prolog"),
        ("p :- ~a.", "infix"),
        ("p :- a ; b.", "prolog"),
        ("role(x) ; the first, or so\nrole(o) ; the second.\np :- q(x)", "infix"),
        ("; role(x), and more :-\nrole(x)", "infix"),
        ("p :- (a\n     ;\n     b), c.", "prolog"),
        ("p(X) :- q(X).\nr(X) :-\n  s(X)\n  ; t(X).", "prolog"),
        (":- dynamic p/1.\np(a).", "prolog"),
        ("#show p/1.\np(a).", "prolog"),
        ("/* (role x) */ role(x).", "prolog"),
        ("% (role x)\nrole(x) role(o)", "infix"),
        ("role(white)\nrole(black).\nlegal(R,a) :- role(R), t.\nlegal(R,b) :- role(R), u.", "prolog"),
        ("p(X) :- q(X), X is 3.", "prolog"),
        ("p :- a, not b.", "prolog"),
        ("% p, q :- r.\n(role x)", "kif"),
        ("; p(x) :- q, r.\n(role x)", "kif"),
        ("terminal (role x)", "kif"),
        ("; role(x) :-\n(role x)", "kif"),
        ("% (role x)\nrole(x)", "infix"),
        ("\ufeff role(x)", "infix"),
        ("open :- closed", "infix"),
        ("terminal", "kif"),
        ("", "kif"),
        ("(p) q(x)", "kif"),
        ("'a-b'(x)", "infix"),
    ],
)
def test_the_notation_is_seen(text: str, notation: str) -> None:
    assert form_of(text).name == notation
    for asked in FORMS:
        assert form_of(text, asked).name == asked


@pytest.mark.slow
@pytest.mark.parametrize(("notation", "games"), [("infix", "[a-k]*.kif"), ("prolog", "[l-z]*.kif")])
def test_installed_games_survive_the_way_there_and_back_with_their_comments(
    notation: Notation, games: str
) -> None:
    for path in sorted(GAMES.glob(games)):
        text = path.read_text()
        there = convert(text, notation)
        assert form_of(there).name == notation, path.stem
        assert convert(there, "auto") == there, path.stem
        back = convert(there, "kif")
        assert renamed(parse_rules(back)) == renamed(parse_rules(text)), path.stem
        assert back.count(";") == text.count(";"), path.stem


@pytest.mark.parametrize(
    ("notation", "begin", "sign", "most", "end"),
    [
        ("infix", "p", "(p", MAX_DEPTH, ")"),
        ("infix", "p :- ", "~", MAX_DEPTH - 1, ""),
        ("infix", "p :- ", "(", MAX_DEPTH, ")"),
        ("infix", "p :- ", "~(", MAX_DEPTH // 2, ")"),
        ("prolog", "p", "(p", MAX_DEPTH, ")"),
        ("prolog", "p :- ", "\\+ ", MAX_DEPTH - 1, ""),
        ("prolog", "p :- ", "not ", MAX_DEPTH - 1, ""),
        ("prolog", "p :- ", "(", MAX_DEPTH, ")"),
        ("prolog", "p :- ", "not(", MAX_DEPTH // 2, ")"),
    ],
)
def test_nesting_is_read_to_its_limit_and_refused_beyond(
    notation: str, begin: str, sign: str, most: int, end: str
) -> None:
    usual, read = sys.getrecursionlimit(), FORMS[notation].read

    def nested(depth: int) -> str:
        inner = "" if begin == "p" else "q"
        return begin + sign * depth + inner + end * depth + ("." if notation == "prolog" else "")

    read(nested(most))
    for depth in (most + 2, 100_000):
        with pytest.raises(ParseError) as caught:
            read(nested(depth))
        assert caught.value.code == "nesting-too-deep"
    assert sys.getrecursionlimit() == usual


@pytest.mark.parametrize("notation", ["infix", "prolog"])
@given(st.text("pX_1(),.:-&|~!='\\%; \n\x00\ufeff+/*#not", max_size=60))
@example("p:-'")
@example("/*/")
@example("'\\xffffffff\\'.")
def test_any_text_is_read_or_refused(notation: Notation, text: str) -> None:
    for tried in (notation, "auto"):
        with contextlib.suppress(ParseError):
            parse_rules(text, notation=tried)  # type: ignore[arg-type]
    _, findings = check_text(text, notation=notation)
    assert all(finding.place.line >= 1 or finding.code.startswith("missing-") for finding in findings)

"""Canonical layout: nothing but layout changes, comments stay, and it is a fixed point."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import ParseError
from gdl.syntax.format import format_text
from gdl.syntax.parser import parse_rules
from gdl.syntax.sexpr import Atom, SExpr, read
from tests.gdl.syntax.nested import Nested, nested, shape, write

words = st.sampled_from(["<=", "or", "and", "not", "p", "?x", "true", "12", "NOT"])
gaps = st.sampled_from([" ", "\n", "\n\n\n", "  ", " ; c\n", "\n; own line\n", "; x ; y\n\n", "\t;;; ( \r\n"])


def comments(parts: list[SExpr]) -> list[str]:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Atom):
            texts += [part.text] if part.text.startswith(";") else []
        else:
            texts += comments(part.parts)
    return texts


@given(st.lists(nested(words), max_size=5), st.data())
def test_only_the_layout_changes_and_only_once(sentences: list[Nested], data: st.DataObject) -> None:
    def gap() -> str:
        return data.draw(gaps)

    text = "".join(gap() + write(s, gap) for s in sentences) + gap()
    formatted = format_text(text)
    assert [shape(p) for p in read(formatted)[1]] == [shape(p) for p in read(text)[1]]
    assert comments(read(formatted, keep_comments=True)[1]) == comments(read(text, keep_comments=True)[1])
    assert format_text(formatted) == formatted
    assert "\n\n\n" not in formatted
    assert not any(line != line.rstrip() for line in formatted.split("\n"))


@pytest.mark.slow
def test_public_games_keep_their_meaning_and_comments(corpus_games: list[Path]) -> None:
    for path in corpus_games:
        text = path.read_text()
        formatted = format_text(text, path.name)
        assert parse_rules(formatted, path.name) == parse_rules(text, path.name), path.stem
        assert format_text(formatted) == formatted, path.stem
        assert formatted.count(";") == text.count(";"), path.stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  (role   White)(role\nBlack)", "(role White)\n(role Black)\n"),
        ("(p)\n\n\n\n(q)\n(r)\n", "(p)\n\n(q)\n(r)\n"),
        ("(<= p)", "(<= p)\n"),
        (
            "(<= (legal ?r (mark ?x)) (role ?r) (true (cell ?x b)))",
            "(<= (legal ?r (mark ?x))\n  (role ?r)\n  (true (cell ?x b)))\n",
        ),
        (
            "(<= p (not (q ?x)) (or a (and b (not (or c d)))))",
            "(<= p\n  (not (q ?x))\n"
            "  (or\n    a\n    (and\n      b\n      (not\n        (or\n          c\n          d)))))\n",
        ),
        ("; head\n\n(p) ; tail\n; next\n(q)", "; head\n\n(p) ; tail\n; next\n(q)\n"),
        (
            "(<= p ; why\n  ; before q\n  q ; at q\n  r) ; end",
            "(<= p ; why\n  ; before q\n  q ; at q\n  r) ; end\n",
        ),
        ("(<= p\n q ; at q\n )", "(<= p\n  q) ; at q\n"),
        ("(<= p\n q\n ; last words\n )", "(<= p\n  q\n  ; last words\n)\n"),
        ("(p (q a ; c\n) ; d\n) ; e", "(p\n  (q\n    a ; c\n  ) ; d\n) ; e\n"),
        ("(init ; why\n (step 1))", "(init ; why\n  (step 1))\n"),
        ("(p a)\r\n(q b) ; x\r\n", "(p a)\n(q b) ; x\n"),
    ],
)
def test_the_layout(text: str, expected: str) -> None:
    assert format_text(text) == expected
    assert format_text(expected) == expected


def test_what_is_no_kif_is_refused() -> None:
    with pytest.raises(ParseError):
        format_text("(p (q)")

"""The fast scanner of KIF against its grammar: both read the same, or both refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.errors import ParseError
from gdl.reading import plain, text_of
from gdl.syntax.sexpr import MAX_DEPTH, Atom, SExpr, read
from ggp.rule_files import installed_games
from tests.examples import examples
from tests.gdl.syntax.kif_grammar import Placed, read_by_grammar
from tests.gdl.syntax.nested import Nested, nested, shape, write

MOST = 12_000
"""Characters of a public game; the grammar is slow."""


def scanned(text: str) -> tuple[list[Nested], list[Placed]] | None:
    try:
        _, parts = read(text)
    except ParseError:
        return None
    places: list[Placed] = []

    def visit(part: SExpr) -> None:
        places.append((part.text, part.offset) if isinstance(part, Atom) else ("()", part.offset))
        for inner in [] if isinstance(part, Atom) else part.parts:
            visit(inner)

    for part in parts:
        visit(part)
    return list(map(shape, parts)), places


@pytest.mark.slow
@pytest.mark.parametrize("path", list(installed_games()), ids=lambda path: path.stem)
def test_our_games_are_read_alike(path: Path) -> None:
    text = path.read_text(encoding="utf-8")[:MOST].rpartition("\n\n")[0]
    found = read_by_grammar(text)
    assert found is not None
    assert found == scanned(text)
    again = "\n".join(map(write, found[0]))
    assert read_by_grammar(again) is not None
    assert scanned(again)[0] == found[0]  # type: ignore[index]


@pytest.mark.slow
def test_public_games_are_read_alike(corpus_games: list[Path]) -> None:
    small = [path for path in corpus_games if path.stat().st_size < MOST][::6]
    assert small
    for path in small:
        text = text_of(path.read_bytes())
        assert read_by_grammar(text) == scanned(text), path.stem


@examples(80)
@given(
    st.lists(
        nested(st.text("ab?1<=\"'|;", min_size=1, max_size=3).filter(lambda w: ";" not in w)), max_size=4
    )
)
def test_what_is_written_is_read_by_both(sentences: list[Nested]) -> None:
    text = "\n".join(map(write, sentences))
    assert read_by_grammar(text) == scanned(text)
    assert scanned(text) is not None


@examples(400)
@given(st.text("()ab;? \n\t\r\f\v\xa0\ufeff\u2003\u0085\x1c\x00é\u200b\"'", max_size=30))
@example("(" * MAX_DEPTH + ")" * MAX_DEPTH)
@example("(" * (MAX_DEPTH + 1) + ")" * (MAX_DEPTH + 1))
@example("; only a comment")
@example("a;b\n;\n(c;)\n)")
@example("a\u2028b")
@example("a\ufffdb")
def test_both_read_any_text_or_both_refuse_it(text: str) -> None:
    assert read_by_grammar(plain(text)) == scanned(text)

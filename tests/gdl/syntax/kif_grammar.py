"""KIF as a pyparsing grammar: slow, short, and the oracle of the scanner in :mod:`gdl.syntax.sexpr`.

    text       = { expression }
    expression = word | "(" { expression } ")"

Blanks are space, tab, line feed, carriage return, form feed, vertical tab, no-break space and byte order
mark; ``;`` begins a comment to the end of its line; a word is a run of other printable characters than
blanks, parentheses and semicolons. The replacement character stands for bytes that were no text: no word
has it.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import pyparsing as pp

from gdl.syntax.sexpr import MAX_DEPTH
from tests.gdl.syntax.nested import Nested

BLANKS = " \t\n\r\f\v\xa0\ufeff"
Placed = tuple[str, int]
"""A word, or ``()``, and its offset."""


@cache
def _grammar() -> pp.ParserElement:
    blank = pp.Suppress(pp.Regex(rf"(?:[{BLANKS}]|;[^\n]*)*"))
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    word = pp.Word(printable, exclude_chars=" ();\ufffd").set_parse_action(
        lambda _, at, found: [(found[0], at)]
    )
    opened = pp.Literal("(").set_parse_action(lambda _, at, found: [("()", at)])
    expression = pp.Forward()
    group = pp.Group(opened + blank + pp.ZeroOrMore(expression) + pp.Suppress(")"))
    expression <<= (word | group) + blank
    return (blank + pp.ZeroOrMore(expression)).leave_whitespace().parse_with_tabs()


def read_by_grammar(text: str) -> tuple[list[Nested], list[Placed]] | None:
    """The expressions of a text, and all words and groups with their offsets in the order of the text; None
    where it is no KIF."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        found = _grammar().parse_string(text, parse_all=True)
    except pp.ParseException:
        return None
    finally:
        sys.setrecursionlimit(usual)
    places: list[Placed] = []
    shapes = [_shape(part, places, 0) for part in found]
    return None if any(shape is None for shape in shapes) else (shapes, places)  # type: ignore[return-value]


def _shape(part: Any, places: list[Placed], depth: int) -> Nested | None:
    if isinstance(part, tuple):
        places.append(part)
        return str(part[0])
    if depth >= MAX_DEPTH:
        return None
    places.append(part[0])
    inner = [_shape(one, places, depth + 1) for one in part[1:]]
    return None if any(one is None for one in inner) else inner  # type: ignore[return-value]

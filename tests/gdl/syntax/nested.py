"""Nested lists of words, the structure of KIF."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from gdl.syntax.sexpr import Atom, SExpr

Nested = str | list["Nested"]


def nested(words: st.SearchStrategy[str]) -> st.SearchStrategy[Nested]:
    """Words in nested lists."""
    return st.recursive(words, lambda inner: st.lists(inner, max_size=5), max_leaves=25)


def shape(part: SExpr) -> Nested:
    """An expression without its places."""
    return part.text if isinstance(part, Atom) else [shape(p) for p in part.parts]


def write(part: Nested, blank: Callable[[], str] = lambda: " ") -> str:
    """The text of nested lists, with blanks before each part and each closing parenthesis."""
    if isinstance(part, str):
        return part
    return f"({''.join(blank() + write(p, blank) for p in part)}{blank()})"

"""Which notation rules are written in: KIF, or infix GDL."""

from __future__ import annotations

import re
from typing import Literal, get_args

from gdl.errors import GdlError
from gdl.syntax.sexpr import MAX_CHARACTERS, check_is_text

Notation = Literal["auto", "kif", "infix"]
QUOTED = r"'(?:[^'\\\n]|\\[^\n])*'"
"""A name in quotes, as infix GDL has it."""
COMMENT = re.compile(rf"{QUOTED}|[%;][^\n]*")
"""A comment of infix GDL, or a quoted name, in which none begins."""
_LOOK = re.compile(r":-|[A-Za-z0-9_']\(")


def named_notation(name: str) -> Notation:
    """The notation of this name. Raises GdlError where there is none."""
    for known in get_args(Notation):
        if known == name.lower():
            return known  # type: ignore[no-any-return]
    raise GdlError(f"there is no notation {name!r}", remedy=f"choose {', '.join(get_args(Notation))}")


def is_infix(text: str, notation: Notation = "auto") -> bool:
    """Whether a text is to be read as infix GDL. By its look it is where its first sentence does not begin
    with a parenthesis, and ``:-`` or a name directly before a ``(`` stands somewhere.

    >>> is_infix("role(x) terminal :- open"), is_infix("(role x) (<= terminal open)")
    (True, False)
    """
    check_is_text(text)
    if notation != "auto":
        return notation == "infix"
    bare = without_comments(text[:MAX_CHARACTERS]).lstrip("\ufeff \t\r\n\f\v")
    return bare[:1] not in ("", "(", ")") and _LOOK.search(bare) is not None


def notation_of(text: str, notation: Notation = "auto") -> str:
    """The name of the notation that a text is to be read as: ``kif`` or ``infix``."""
    return "infix" if is_infix(text, notation) else "kif"


def without_comments(text: str) -> str:
    """Infix rules with blanks for comments: offsets stay."""
    return COMMENT.sub(lambda found: " " * len(found[0]) if found[0][0] in "%;" else found[0], text)

"""How a text looks: like KIF, infix GDL or Prolog."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
      (?P<skipped> %[^\n]* | /\*(?s:.*?)(?:\*/|\Z) | ;(?:[ \t]*;[^\n]*|[ \t]*(?=\n|\Z)) )
    | (?P<quoted> '(?:[^'\\\n]|\\[^\n])*' )
    | (?P<word> \w+ )
    | (?P<mark> :- | -> | \\\+ | \\==? | != | [^\s\ufeff] )
    """,
    re.VERBOSE,
)
_PROSE = re.compile(r";[^\n]*(?:\b(?!not\b)\w+[ \t]+\w|[!?\"])")
"""A comment as KIF and infix GDL have it: words that no sign joins."""
_COMMENT = re.compile(r"[^\n]*")
_DIRECTIVE = re.compile(r"[^.]*\.")
_OPERATORS = frozenset(["not", "is", "mod"])
_DECIDED = 20
_ONLY_PROLOG = frozenset(["\\+", "\\=", "\\==", "->", "#"])


def votes(text: str) -> int | None:
    """None where a text looks like KIF; otherwise how much more it looks like Prolog than like infix GDL.

    Signs that only one of the two has count one: ``&`` and ``~``, and ``,`` between literals, ``\\+``, block
    comments, directives and others. A sentence that begins where the one before has no full stop counts two.
    Where all this says nothing, a full stop at the end does.
    """
    balance = depth = 0
    called = False  # whether anything stands that KIF has not
    before = ""  # the token before: "word" for names and for what ends a group
    position = 0
    while found := _TOKEN.search(text, position):
        position = found.end()
        mark = found["mark"]
        if found["skipped"]:
            balance += found[0].startswith("/*")
            continue
        if mark == ";" and (not before or before in ".;" or _PROSE.match(text, found.start())):
            position = _COMMENT.match(text, position).end()  # type: ignore[union-attr]
            continue
        if not before and mark in ("(", ")"):
            return None
        if mark is None:
            operator = found[0] in _OPERATORS
            if before == "word" and not depth:
                balance += 1 if operator else -2
            before = found[0] if operator else "word"
            continue
        if mark in (":-", "#") and before in ("", ".") and (directive := _DIRECTIVE.match(text, position)):
            balance, called, before, position = balance + 3, True, ".", directive.end()
            continue
        match mark:
            case "(":
                called = called or (before == "word" and not text[found.start() - 1].isspace())
                if not (before == "word" and text[found.start() - 1].isspace()) or depth:
                    depth += 1
            case ")":
                depth = max(0, depth - 1)
            case ":-" | ".":
                called = called or mark == ":-"
                depth = 0
            case "&" | "~":
                balance -= 1
            case ",":
                balance += not depth
            case _:
                balance += mark in _ONLY_PROLOG
        before = "word" if mark == ")" else mark
        if called and abs(balance) >= _DECIDED:
            return balance
    if not called:
        return None
    return balance or (1 if before == "." else -1)

"""Infix GDL: ``legal(W,mark(X,Y)) :- true(cell(X,Y,b)) & ~true(over)``.

It is the notation of chapter 2 of the Stanford notes on General Game Playing (M. Genesereth, M. Thielscher:
General Game Playing, 2014) and of Gamemaster's rules: a name that begins with a capital letter is a variable,
``_`` another one each time; ``:-`` is read "if", ``&`` "and", ``|`` "or", ``~`` "not"; ``%`` begins a
comment; a sentence ends where the next begins, a full stop behind it may be left out. Beyond that, ``X != Y``
is ``distinct(X,Y)``, ``;`` begins a comment as in KIF, and ``'...'`` holds a name that needs quotes.
"""

from __future__ import annotations

import re

from gdl.syntax.grammar import COLUMN_1, Grammar
from gdl.syntax.typography import comment_mark, what_to_write


class InfixGrammar(Grammar):
    """The signs of infix GDL."""

    code = "not-infix"
    quoted = r"'(?:[^'\\\n]|\\[^\n])*'"
    word = rf"{quoted}|[A-Za-z0-9_]+"
    sign = ":-|!="
    comment = re.compile(rf"{quoted}|[%;][^\n]*")
    negation = "~"
    conjunction = "&"
    disjunction = r"\|"
    unequal = "!="
    shown = ("'~'", "'&'", "'|'")
    must_stop = False

    def pieces(self, bare: str) -> list[tuple[int, int]]:
        """Each sentence should begin in column 1, and go on in lines that do not."""
        starts = [0, *(found.start() for found in COLUMN_1.finditer(bare) if found.start())]
        return list(zip(starts, [*starts[1:], len(bare)], strict=True))

    def remedy(self, bare: str, at: int, expected: str) -> str:
        """Also for comments of other languages, and characters of word processors."""
        if comment_mark(bare, at, "%"):
            return "begin comments with '%'"
        return what_to_write(bare[at : at + 1]) or super().remedy(bare, at, expected)


INFIX = InfixGrammar()

"""The notations that rules are written in, in one table; how a text is seen to be in one of
them (it looks like KIF, infix GDL or Prolog); and infix GDL.

Infix GDL: ``legal(W,mark(X,Y)) :- true(cell(X,Y,b)) & ~true(over)``.

It is the notation of chapter 2 of the Stanford notes on General Game Playing (M. Genesereth, M. Thielscher:
General Game Playing, 2014) and of Gamemaster's rules: a name that begins with a capital letter is a variable,
``_`` another one each time; ``:-`` is read "if", ``&`` "and", ``|`` "or", ``~`` "not"; ``%`` begins a
comment; a sentence ends where the next begins, a full stop behind it may be left out. Beyond that, ``X != Y``
is ``distinct(X,Y)``, ``;`` begins a comment as in KIF, and ``'...'`` holds a name that needs quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, get_args

from gdl.errors import GdlError, ParseError
from gdl.reading import plain
from gdl.rules import Rule
from gdl.syntax.grammar import COLUMN_1, Grammar
from gdl.syntax.prolog import PROLOG
from gdl.syntax.sexpr import (
    SExpr,
    Source,
    check_is_text,
    comment_mark,
    kif_comments,
    read,
    read_kif_past_faults,
    sentence_to_kif,
)
from gdl.syntax.writer import SIGNS, sentence_writer

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
    before = ""  # the token before: "word" for names and for the end of a group
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


class _InfixGrammar(Grammar):
    """The signs of infix GDL."""

    code = "not-infix"
    quoted = r"'(?:[^'\\\n]|\\[^\n])*'"
    word = rf"{quoted}|[A-Za-z0-9_]+"
    sign = r":-|!=|\.\.|&&|\|\||\\[+=]=?|[-<>=]{2,3}"
    comment = re.compile(rf"{quoted}|[%;][^\n]*")
    negation = "~"
    conjunction = "&"
    disjunction = r"\|"
    unequal = "!="
    shown = ("'~'", "'&'", "'|'")
    sample = "X != Y"
    must_stop = False

    def pieces(self, bare: str) -> list[tuple[int, int]]:
        """Each sentence should begin in column 1, and go on in lines that do not."""
        starts = [0, *(found.start() for found in COLUMN_1.finditer(bare) if found.start())]
        return list(zip(starts, [*starts[1:], len(bare)], strict=True))

    def remedy(self, bare: str, at: int, expected: str) -> str:
        """Also for comments of other languages, and characters of word processors."""
        if comment_mark(bare, at, "%") and (at == 0 or bare[at - 1] == "\n"):
            return "begin comments with '%'"
        return super().remedy(bare, at, expected)


INFIX = _InfixGrammar()

Notation = Literal["auto", "kif", "infix", "prolog"]
"""A notation's name, or ``auto`` to detect it from the text."""
_Spelling = dict[str, str]
_Parsed = tuple[Source, list[SExpr]]


@dataclass(frozen=True, slots=True)
class Form:
    """One notation: its names, readers and writer. All use the expressions of KIF (:mod:`gdl.syntax.sexpr`).
    The readers take a text and its name for messages, and raise ParseError.

    Attributes:
        name: its name.
        shown: its name on pages and in messages.
        endings: the suffixes of its files.
        mark: begins a comment.
        read: the sentences of a text.
        read_terms: a run of terms.
        read_past_faults: the sentences that can be read, and the faults of the others.
        comments: the comments of a text: begin and end of each line, and its words.
        write: a rule on its own lines, with the given spelling of names.
    """

    name: Notation
    shown: str
    endings: tuple[str, ...]
    mark: str
    read: Callable[[str, str], _Parsed]
    read_terms: Callable[[str, str], _Parsed]
    read_past_faults: Callable[[str, str], tuple[Source, list[SExpr], list[ParseError]]]
    comments: Callable[[Source], Iterator[tuple[int, int, str]]]
    write: Callable[[Rule, _Spelling], str]


KIF = Form(
    "kif", "prefix", (".kif", ".gdl"), ";", read, read, read_kif_past_faults, kif_comments, sentence_to_kif
)
FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        KIF,
        Form(
            "infix",
            "infix",
            (".hrf",),
            "%",
            INFIX.read,
            INFIX.read_terms,
            INFIX.read_past_faults,
            INFIX.comments,
            sentence_writer(SIGNS["infix"]),
        ),
        Form(
            "prolog",
            "prolog",
            (".pl", ".lp", ".prolog"),
            "%",
            PROLOG.read,
            PROLOG.read_terms,
            PROLOG.read_past_faults,
            PROLOG.comments,
            sentence_writer(SIGNS["prolog"]),
        ),
    )
}
"""All notations by name."""


def named_notation(name: str) -> Notation:
    """The notation of this name, whatever its case; KIF is also called ``prefix``. Raises GdlError if
    there is none."""
    for candidate in get_args(Notation):
        if name.lower() in (candidate, FORMS[candidate].shown if candidate in FORMS else candidate):
            return candidate  # type: ignore[no-any-return]
    raise GdlError(f"there is no notation {name!r}", remedy=f"choose {', '.join(get_args(Notation))}")


def form_of(text: str, notation: Notation = "auto", name: str = "") -> Form:
    """The notation that a text is to be read in.

    By its look it is KIF where its first sentence begins with a parenthesis, or neither ``:-`` nor a name
    directly before a ``(`` stands anywhere. Otherwise the ending of ``name``, a file's, decides, or else
    signs that only one of the others has, as far as there are more of them.

    >>> [form_of(text).name for text in ("(role x)", "role(x) p :- q & r", "role(x). p :- q, r.")]
    ['kif', 'infix', 'prolog']
    """
    check_is_text(text)
    if notation != "auto":
        return FORMS[notation]
    found = votes(plain(text))
    if found is None:
        return KIF
    ending = PurePath(name).suffix.lower()
    for form in FORMS.values():
        if ending in form.endings and form is not KIF:
            return form
    return FORMS["prolog" if found > 0 else "infix"]

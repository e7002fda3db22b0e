"""The notations that rules are written in, in one table, and how a text is seen to be in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, get_args

from gdl.errors import GdlError, ParseError
from gdl.rules import Rule
from gdl.syntax.infix import INFIX
from gdl.syntax.kif import kif_comments, read_kif_past_faults, sentence_to_kif
from gdl.syntax.look import votes
from gdl.syntax.prolog import PROLOG
from gdl.syntax.sexpr import SExpr, Source, check_is_text, read
from gdl.syntax.writer import SIGNS, sentence_writer

Notation = Literal["auto", "kif", "infix", "prolog"]
"""A notation's name, or ``auto``: it is seen from the text."""
Spelling = dict[str, str]
Parsed = tuple[Source, list[SExpr]]


@dataclass(frozen=True, slots=True)
class Form:
    """One notation: what people call it, and what reads and writes it. All take and give the expressions of
    KIF (:mod:`gdl.syntax.sexpr`); the readers take a text and its name for messages, and raise ParseError.

    Attributes:
        name: of it.
        shown: what pages and messages call it.
        endings: of the names of its files.
        mark: begins a comment.
        read: the sentences of a text.
        read_terms: a run of terms.
        read_past_faults: the sentences that can be read, and the faults of the others.
        comments: those of a text: where each line of them begins and ends, and its words.
        write: a rule on its own lines, its names spelled as told.
    """

    name: Notation
    shown: str
    endings: tuple[str, ...]
    mark: str
    read: Callable[[str, str], Parsed]
    read_terms: Callable[[str, str], Parsed]
    read_past_faults: Callable[[str, str], tuple[Source, list[SExpr], list[ParseError]]]
    comments: Callable[[Source], Iterator[tuple[int, int, str]]]
    write: Callable[[Rule, Spelling], str]


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
    """The notation of this name, whatever its case; KIF is also called ``prefix``. Raises GdlError where
    there is none."""
    for known in get_args(Notation):
        if name.lower() in (known, FORMS[known].shown if known in FORMS else known):
            return known  # type: ignore[no-any-return]
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
    found = votes(text)
    if found is None:
        return KIF
    ending = PurePath(name).suffix.lower()
    for form in FORMS.values():
        if ending in form.endings and form is not KIF:
            return form
    return FORMS["prolog" if found > 0 else "infix"]

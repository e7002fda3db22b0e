"""Small languages that people write, by pyparsing: errors give the column and the expected part.

>>> from pyparsing import Regex
>>> read_phrase(Regex("[a-z]+").set_name("a word") + Regex("[0-9]+").set_name("a number"), "seat 4", "seat")
['seat', '4']
>>> read_phrase(Regex("[a-z]+").set_name("a word") + Regex("[0-9]+").set_name("a number"), "seat x", "seat")
Traceback (most recent call last):
gdl.errors.GdlError: seat 'seat x', column 6: expected a number, found 'x'
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gdl.errors import GdlError

if TYPE_CHECKING:
    from pyparsing import ParserElement

LONGEST = 10_000
"""Characters of a phrase."""
_SHOWN = 60


def read_phrase(grammar: ParserElement, text: str, what: str, remedy: str = "", more: str = "") -> list[Any]:
    """The parts that a grammar reads from a whole text.

    Args:
        grammar: its parts have names, for messages.
        text: at most :data:`LONGEST` characters.
        what: the kind of text, in messages: ``player``.
        remedy: its form, for messages.
        more: other parts that could have followed the text read, in messages.

    Raises:
        GdlError: the text is too long, or not what the grammar takes.
    """
    from pyparsing import ParseBaseException

    if len(text) > LONGEST:
        raise GdlError(f"the {what} has more than {LONGEST:,} characters")
    try:
        return list(grammar.parse_with_tabs().parse_string(text, parse_all=True))
    except ParseBaseException as error:
        at = error.loc
        while at < len(text) and text[at].isspace():
            at += 1
        expected = error.msg.removeprefix("Expected ")
        if expected == "end of text":
            expected = more or "the end"
        token = re.compile(r"[\w.-]+|.").match(text, at)
        found = "the end" if token is None else repr(token[0][:_SHOWN])
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        message = f"{what} {shown!r}, column {at + 1}: expected {expected}, found {found}"
        raise GdlError(message, remedy=remedy) from None

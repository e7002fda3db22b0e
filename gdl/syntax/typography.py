"""Characters and comment marks that rules have not, and what to write in their place.

Word processors, web pages and other keyboards put them into texts: curly quotes, full-width brackets, long
dashes, commas between arguments, ``//`` before a comment.
"""

from __future__ import annotations

import re
import unicodedata

OPENING, CLOSING = "[{（［｛【〔〈⟨「『⦅", "]}）］｝】〕〉⟩」』⦆"
"""Brackets that are no parentheses."""
_QUOTES = '“”„‟«»‹›‘’‚‛″′´＂＇"`'
_COMMAS = ",，、،"
_DASHES = "‐‑‒–—―−－"
_MARK = re.compile(r"//|/\*|\*/|#|--|%")


def comment_mark(text: str, at: int = 0, own: str = "") -> str:
    """The mark that other languages begin a comment with, if one stands here; ``own`` is none of them."""
    found = _MARK.match(text, at)
    return found[0] if found and found[0] not in own else ""


def what_to_write(character: str) -> str:
    """The remedy for a character that rules have not; empty for those that they may have.

    >>> what_to_write("（"), what_to_write("–"), what_to_write("Ａ"), what_to_write("ä")
    ("write '('", "write '-'", "write 'A'", '')
    """
    if not character:
        return ""
    if character in OPENING:
        return "write '('"
    if character in CLOSING:
        return "write ')'"
    if character in _QUOTES:
        return "leave it out: names stand without quotation marks"
    if character in _COMMAS:
        return "leave it out: blanks separate arguments"
    if character in _DASHES:
        return "write '-'"
    plain = unicodedata.normalize("NFKC", character)
    return f"write {plain!r}" if plain != character and len(plain) == 1 and plain.isascii() else ""


def look_alike(word: str) -> int:
    """The place of a letter of another script in a word of Latin letters, which looks like one of them; -1 if
    there is none.

    >>> look_alike("cell"), look_alike("сell"), look_alike("клетка"), look_alike("naïve")
    (-1, 0, -1, -1)
    """
    if word.isascii() or not any(c.isascii() and c.isalpha() for c in word):
        return -1
    scripts = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
    return next((i for i, c in enumerate(word) if unicodedata.name(c, "").startswith(scripts)), -1)


def named(character: str) -> str:
    """A character for a message: itself, and its name if it is not of ASCII."""
    name = unicodedata.name(character, "")
    return repr(character) if character.isascii() or not name else f"{character!r} ({name.lower()})"

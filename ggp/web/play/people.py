"""The people at the tables as the server knows them: their keys, their names, and who is there.

A key lets a person act at a table. The person who opens a table gets the first one, and each who takes a free
seat another one.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from gdl.errors import GdlError
from ggp.web.shell import Broadcast
from players.registry import NAMES

LONGEST_NAME = 24
_NAME = re.compile(rf"[^\W_](?:[\w .'-]{{0,{LONGEST_NAME - 2}}}[\w.])?")
_OURS = ("human", "friend", "you", "a person", "chance", "the page", "kaskade", "easy", "medium", "strong")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK")
"""Alphabets with letters that look alike. No name has letters of one of them and of another alphabet."""


@dataclass(eq=False)
class Person:
    """A person with a key.

    Attributes:
        number: the person's number in the table's process.
        news: the events for its pages.
        name: what it is called; empty if it has not said so.
        pages: how many of its pages are open.
        left: when the last of them was closed, time.monotonic() seconds.
        key: random letters and digits that cannot be guessed.
    """

    number: int
    news: Broadcast
    name: str
    pages: int = 0
    left: float = 0.0
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))


def checked_name(name: str, others: Iterable[str]) -> str:
    """The name by which a person wants to be called, in one spelling; empty for none.

    Raises GdlError if it has other characters than letters, digits, spaces and a few marks, or could be taken
    for a player, for a word of the page, or for one of ``others``.
    """
    name = " ".join(unicodedata.normalize("NFKC", name).split())
    if not name:
        return ""
    letters = [unicodedata.name(c, "") for c in name if c.isalpha()]
    alphabets = {next((one for one in _ALPHABETS if one in letter), "") for letter in letters}
    unseen = any("FILLER" in letter for letter in letters)
    if not _NAME.fullmatch(name) or len(alphabets) > 1 or unseen:
        raise GdlError(
            f"a name is up to {LONGEST_NAME} letters of one alphabet, digits and spaces",
            remedy="choose another",
        )
    plain = _plain(name)
    taken = {_plain(one.partition(":")[0]) for one in (*NAMES, *_OURS, *others)}
    if plain in taken or plain.startswith(_plain("the page")):
        raise GdlError(f"the name {name} is taken", remedy="choose another name")
    return name


def _plain(name: str) -> str:
    """The letters and digits of a name, the same for names that look alike."""
    return "".join(c for c in unicodedata.normalize("NFKD", name).casefold() if c.isalnum())

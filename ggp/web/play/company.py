"""The people at a table: who sits where, what they may be called, and their requests to each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from gdl.errors import GdlError
from ggp.web.play.view import HUMAN
from players.registry import NAMES

OWNER = 0
"""The person who has opened the table."""
FRIEND = "friend"
"""The player of a seat that waits for another person."""
LONGEST_NAME = 24
_NAME = re.compile(rf"[^\W_](?:[\w .'-]{{0,{LONGEST_NAME - 2}}}[\w.])?")
_OURS = ("human", "friend", "you", "a person", "chance", "the page", "kaskade")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK")
"""Alphabets with letters that look alike. No name has letters of one of them and of another alphabet."""


class Company:
    """People are numbers: 0 has opened the table, others have come later.

    Args:
        seats: for each role its player; the owner takes those of people, all others stay free.
        most: the most seats of one person.

    Attributes:
        at: for each role the person who plays it; None if that is a player, or the seat is free.
        names: the names of people; empty for those without one.
        offers: each request to the others, with the people who want it, the first one first.
    """

    def __init__(self, seats: Sequence[str], most: int) -> None:
        self._most = most
        self.at: list[int | None] = [None] * len(seats)
        self.names: dict[int, str] = {}
        self.offers: dict[str, list[int]] = {}
        self._declined: set[tuple[str, int]] = set()
        for role, seat in enumerate(seats):
            if seat == HUMAN:
                self.sit(OWNER, role)

    @property
    def people(self) -> set[int]:
        """All who have a seat."""
        return {person for person in self.at if person is not None}

    def sit(self, person: int, role: int) -> None:
        """Take a free seat, if the person may have one more."""
        if self.at[role] is None and self.at.count(person) < self._most:
            self.at[role] = person

    def leave(self, person: int) -> None:
        """Free all seats of a person."""
        self.at = [None if one == person else one for one in self.at]
        self.forget()

    def agree(self, what: str, person: int) -> int | None:
        """Note that a person wants something. If all who have a seat want it, returns the first one, and
        takes the offer away. Raises GdlError if another person has declined it."""
        if (what, person) in self._declined:
            raise GdlError("this was declined", remedy="ask again after the next move")
        wanting = self.offers.setdefault(what, [])
        if person not in wanting:
            wanting.append(person)
        return self.offers.pop(what)[0] if self.people <= {*wanting} else None

    def decline(self, what: str, person: int) -> None:
        """Take an offer away. If others made it, they may not repeat it before the next move."""
        wanting = self.offers.pop(what, [])
        if person not in wanting:
            self._declined.update((what, one) for one in wanting)

    def forget(self) -> None:
        """Take all offers away, because the match has moved on."""
        self.offers.clear()
        self._declined.clear()


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

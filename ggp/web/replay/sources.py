"""Where a match comes from, and whose rules it is drawn by.

A match comes from a file of records, from one that a page has brought, or from a tournament's file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError
from gdl.reading import read_limited
from ggp.game import Game, installed_games
from ggp.protocol.http_error import object_of
from ggp.tournament.session import stored_settings
from ggp.tournament.store import Store
from ggp.web.replay.recorded import RecordedMatch, records_in
from ggp.web.replay.shelf import LARGEST, MOST_BROUGHT_BYTES

CARRIED, NAMED, UNKNOWN = "carried", "named", ""
"""Whose rules a match is drawn by: its record's, those of the game that comes along under the name that the
record gives, nobody's."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The records of a file, with the rules and the game's name where it has them."""

    records: list[dict[str, Any]]
    rules: str = ""
    game: str = ""

    def text_of(self, match: RecordedMatch) -> tuple[str, str]:
        """The name of a match's game and its rules; empty where the file has none."""
        return self.game or match.game, self.rules or match.rules


def game_of(name: str, rules: str) -> tuple[Game | None, str]:
    """The game of a record, and whose rules it has: ``CARRIED``, ``NAMED`` or ``UNKNOWN``. Raises ParseError
    where rules cannot be read."""
    if rules:
        return Game(name or "game", rules), CARRIED
    found = next((path for path in installed_games() if path.stem == name.lower()), None)
    return (None, UNKNOWN) if found is None else (Game.load(found.stem), NAMED)


def read_source(kind: str, path: Path, number: int) -> RecordSource:
    """The records of a file. Raises GdlError and OSError.

    Args:
        kind: as in :class:`ggp.web.replay.shelf.ShelvedRecord`.
        number: of the match in a tournament's file.
    """
    return _READERS[kind](path, number)


def _of_file(path: Path, number: int) -> RecordSource:
    return RecordSource(records_in(read_limited(path, LARGEST).decode("utf-8", "replace")))


def _brought(path: Path, number: int) -> RecordSource:
    told = object_of(read_limited(path, MOST_BROUGHT_BYTES))
    texts = [told.get(name, "") for name in ("record", "rules", "game")]
    if not all(isinstance(text, str) for text in texts):
        raise GdlError("record, rules and game are texts")
    record, rules, game = texts
    if len(record) + len(rules) > LARGEST:
        raise GdlError(f"the record has more than {LARGEST:,} bytes")
    return RecordSource(records_in(record), rules, game)


def _in_tournament(path: Path, number: int) -> RecordSource:
    with Store(path, writing=False) as store:
        fixture, record = store.record(number)
        settings = stored_settings(store)
    games = () if settings is None else settings.games
    rules = next((game.rules for game in games if game.name == fixture.game), "")
    return RecordSource(records_in(orjson.dumps(record).decode()), rules, fixture.game)


_READERS: dict[str, Callable[[Path, int], RecordSource]] = {
    "record": _of_file,
    "brought": _brought,
    "tournament": _in_tournament,
}

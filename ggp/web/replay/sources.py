"""Finds the records and the rules of a match, and makes its card: the game, the players, the result, and a
picture of the last position.

A match comes from a file of records, from a record uploaded by a page, or from a tournament's file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError, or_error
from gdl.reading import read_limited, text_of_file
from gdl.syntax.parser import parse_rules
from gdl.visible import visible
from ggp.answers.catalogue import title_of
from ggp.boards.board import board_of
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.protocol.http_error import object_of
from ggp.rule_files import installed_games
from ggp.tournament.session import stored_settings
from ggp.tournament.store import Store
from ggp.web.replay.recorded import RecordedMatch, one_of, read_match, records_in, summary
from ggp.web.replay.shelf import LARGEST, MOST_BROUGHT_BYTES

CARRIED, NAMED, UNKNOWN = "carried", "named", ""
"""The source of a match's rules: its record, the bundled game with the name in the record, or none."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The records of a file, with the rules and the game's name if the file has them."""

    records: list[dict[str, Any]]
    rules: str = ""
    game: str = ""

    def text_of(self, match: RecordedMatch) -> tuple[str, str]:
        """The name of a match's game and its rules, each empty if unknown."""
        return self.game or match.game, self.rules or match.rules


def game_of(name: str, rules: str) -> tuple[Game | None, str]:
    """The game of a record, and the source of its rules: ``CARRIED``, ``NAMED`` or ``UNKNOWN``. Raises
    ParseError if the rules cannot be read."""
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
    return RecordSource(records_in(text_of_file(path, LARGEST)))


def _uploaded(path: Path, number: int) -> RecordSource:
    body = object_of(read_limited(path, MOST_BROUGHT_BYTES))
    texts = [body.get(name, "") for name in ("record", "rules", "game")]
    if not all(isinstance(text, str) for text in texts):
        raise GdlError("record, rules and game must be strings")
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
    "brought": _uploaded,
    "tournament": _in_tournament,
}


MOST_GAMES = 8
"""Games whose boards are cached, because a folder has many matches of one game."""
_LONGEST_TITLE = 100
_NO_RULES = "(role unknown)"


def shown_title(match: RecordedMatch, game: Game | None) -> str:
    """The displayed title of a match's game."""
    title = match.game if game is None else title_of(game.text)[0] or game.name
    return visible(title[:_LONGEST_TITLE])


def painter_of(match: RecordedMatch, game: Game | None) -> SvgPainter:
    """The painter of a match's states. Without rules the board is found in the states alone."""
    if game is not None:
        return SvgPainter.of_machine(game.machine("prover"), game.name)
    states = list(match.states)
    rules = parse_rules(_NO_RULES)
    return SvgPainter(board_of(rules, (), states, set().union(*states)), rules, (), match.game)


class CardMaker:
    """Makes cards, and caches the boards of the last games."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], tuple[Game, SvgPainter]] = OrderedDict()

    def card(self, source: RecordSource, number: int) -> dict[str, Any]:
        """The data of a card: the fields of :func:`~ggp.web.replay.recorded.summary`, ``title``, ``matches``
        (the number of matches in the file), ``svg``.

        Args:
            number: the number of the match, from 1. For 0, the whole file, the last readable match is drawn.

        Raises:
            GdlError: there is no such match, or its last state cannot be read.
        """
        record = one_of(source.records, number) if number else _last_readable(source.records)
        match = read_match(_end_of(record))
        game, painter = self._drawn_by(source, match)
        before = match.states[-2] if len(match.states) > 1 else None
        shown = painter.draw(match.states[-1], before, facts=False)
        title = shown_title(match, game) or "Unknown game"
        # The source of a tournament's match has only that match.
        matches = 1 if number else len(source.records)
        return {**summary(record), "title": title, "matches": matches, "svg": shown}

    def _drawn_by(self, source: RecordSource, match: RecordedMatch) -> tuple[Game | None, SvgPainter]:
        key = source.text_of(match)
        if key not in self._known:
            game, _ = game_of(*key)
            painter = painter_of(match, game)
            if game is None:
                return None, painter
            self._known[key] = game, painter
            while len(self._known) > MOST_GAMES:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def _last_readable(records: list[dict[str, Any]]) -> dict[str, Any]:
    matches = (or_error(partial(read_match, _end_of(record))) for record in reversed(records))
    at = next((at for at, match in enumerate(matches, 1) if isinstance(match, RecordedMatch)), 1)
    return records[-at]


def _end_of(record: dict[str, Any]) -> dict[str, Any]:
    """The record with at most its last two states, so that the others need not be read."""
    states = record.get("states")
    if not isinstance(states, list):
        return record
    last = states[-2:]
    return {**record, "states": last, "moves": [[]] * (len(last) - 1), "errors": [], "stateTimes": []}

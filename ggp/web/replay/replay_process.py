"""The process that reads and draws the records of one source, within limits of time and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError
from gdl.reading import read_limited
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders
from ggp.protocol.json_body import object_of
from ggp.tournament.session import stored_settings
from ggp.tournament.storage.store import Store
from ggp.web.replay.collection import one_of, records_in, summary
from ggp.web.replay.export import as_page
from ggp.web.replay.frames import Replay
from ggp.web.replay.recorded import read_match
from ggp.web.replay.shelf import LARGEST, MOST_BROUGHT_BYTES

MEMORY = 2 * 1024**3
CPU_SECONDS = 300.0
MOST_FRAMES = 64
"""Drawings in one answer."""
MOST_LISTED = 2000
"""Matches of one file."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The records of a file, with the rules and the game's name where it has them."""

    records: list[dict[str, Any]]
    rules: str = ""
    game: str = ""


class ReplayDesk:
    """Answers orders; keeps the match that was asked for last."""

    def __init__(self) -> None:
        self._stamp: tuple[object, ...] | None = None
        self._source = RecordSource([])
        self._known: tuple[object, ...] | None = None
        self._replay: Replay | None = None

    def answer(self, order: JsonMessage, news: Send) -> dict[str, object]:
        """``story``, ``doubts``, ``frames`` (``first``, ``count``) or ``page`` of the record in the file at
        ``path``, whose ``kind`` is that of :class:`ggp.web.replay.shelf.ShelvedRecord`. Where it holds
        several, ``match`` is the number of one, or 0: then the ``story`` lists them. Raises GdlError."""
        kind, path, number = order["kind"], Path(order["path"]), int(order["match"])
        in_tournament = number if kind == "tournament" else 0
        self._read(kind, path, in_tournament)
        if not number and len(self._source.records) > 1:
            return {"story": {"matches": list(map(summary, self._source.records[:MOST_LISTED]))}}
        replay = self._of(1 if in_tournament else number or 1)
        last = len(replay.match.states)
        match order["do"]:
            case "story":
                return {"story": replay.story()}
            case "doubts":
                return {"doubts": {str(number): text for number, text in replay.doubts().items()}}
            case "frames":
                first = max(0, int(order["first"]))
                end = min(last, first + min(int(order["count"]), MOST_FRAMES))
                drawn = [replay.draw(number) for number in range(first, end)]
                return {"frames": drawn, "facts": replay.match.texts[first:end]}
            case _:
                frames = [replay.draw(number) for number in range(last)]
                return {"page": as_page(replay.story(), replay.doubts(), frames)}

    def _read(self, kind: str, path: Path, number: int) -> None:
        """Have the contents of a file, read anew where it has changed."""
        try:
            told = path.stat()
            stamp = kind, path, number, told.st_mtime_ns, told.st_size
            if stamp != self._stamp:
                self._source = _READERS[kind](path, number)
                self._stamp = stamp
        except OSError as error:
            raise GdlError(f"the record cannot be read: {error.strerror}") from None

    def _of(self, number: int) -> Replay:
        key = self._stamp, number
        if self._replay is None or key != self._known:
            source = self._source
            match = read_match(one_of(source.records, number))
            name = source.game or match.game
            rules = source.rules or match.rules
            known = Game(name or "game", rules) if rules else _installed(name)
            self._known, self._replay = key, Replay(match, known)
        return self._replay


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


def _installed(name: str) -> Game | None:
    from ggp.game import installed_games

    found = next((path for path in installed_games() if path.stem == name.lower()), None)
    return None if found is None else Game.load(found.stem)


def main() -> None:
    """Answer until the other end is gone."""
    answer_orders(ReplayDesk().answer, "replay", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()

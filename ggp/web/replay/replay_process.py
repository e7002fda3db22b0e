"""The process that reads and draws the records of one source, within limits of time and memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send
from ggp.processes.work_process import answer_orders
from ggp.tournament.session import stored_settings
from ggp.tournament.storage.store import Store
from ggp.web.replay.collection import one_of, records_in, summary
from ggp.web.replay.export import as_page
from ggp.web.replay.frames import Replay
from ggp.web.replay.recorded import read_match

MEMORY = 2 * 1024**3
CPU_SECONDS = 300.0
MOST_FRAMES = 64
"""Drawings in one answer."""
MOST_LISTED = 2000
"""Matches of one file."""


class ReplayDesk:
    """Answers orders; keeps the match that was asked for last."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._records: list[dict[str, Any]] = []
        self._known: tuple[str, str, str, int] | None = None
        self._replay: Replay | None = None
        self._read: tuple[tuple[Path, int, int], tuple[str, str, str]] | None = None

    def answer(self, order: JsonMessage, news: Send) -> dict[str, object]:
        """``story``, ``doubts``, ``frames`` (``first``, ``count``) or ``page`` of a ``record`` with its
        ``rules``, or with those of the installed ``game``. Where it holds several, ``match`` is the number of
        one, or 0: then the ``story`` lists them. Instead of a record there may be the path of a
        ``tournament`` that has the match. Raises GdlError."""
        record, number = str(order["record"]), int(order["match"])
        rules, game = str(order["rules"]), str(order["game"])
        if tournament := str(order.get("tournament", "")):
            record, rules, game = self._in_tournament(Path(tournament), number)
            number = 0
        if record != self._text:
            self._records, self._text = records_in(record), record
        if not number and len(self._records) > 1:
            return {"story": {"matches": list(map(summary, self._records[:MOST_LISTED]))}}
        replay = self._of(record, rules, game, number or 1)
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

    def _in_tournament(self, path: Path, number: int) -> tuple[str, str, str]:
        """The record, the rules and the game of a match that a tournament's file has."""
        key = path, number, path.stat().st_mtime_ns
        if self._read is None or key != self._read[0]:
            with Store(path, writing=False) as store:
                fixture, record = store.record(number)
                settings = stored_settings(store)
            games = () if settings is None else settings.games
            rules = next((game.rules for game in games if game.name == fixture.game), "")
            self._read = key, (json.dumps(record), rules, fixture.game)
        return self._read[1]

    def _of(self, record: str, rules: str, game: str, number: int) -> Replay:
        key = record, rules, game, number
        if self._replay is None or key != self._known:
            match = read_match(one_of(self._records, number))
            known = Game(game or match.game or "game", rules) if rules else _installed(game or match.game)
            self._known, self._replay = key, Replay(match, known)
        return self._replay


def _installed(name: str) -> Game | None:
    from ggp.game import installed_games

    found = next((path for path in installed_games() if path.stem == name.lower()), None)
    return None if found is None else Game.load(found.stem)


def main() -> None:
    """Answer until the other end is gone."""
    answer_orders(ReplayDesk().answer, "replay", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()

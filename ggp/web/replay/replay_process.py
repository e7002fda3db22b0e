"""The process that reads one file of records and draws its matches, within limits of time and memory.

Its first order is ``open``: ``path``, or the ``text`` of a record; the answer lists its matches. ``match``
takes one (``index``, and ``game``: an installed game that goes before the record's), ``draw`` gives drawings.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from ggp.processes.parent import Inbox, JsonMessage, Parent, explain
from ggp.web.replay.match_log import MAX_BYTES, matches_in, parse_match, summary
from ggp.web.replay.scenes import Scenes
from ggp.web.replay.sources import TOURNAMENTS
from players.processes.limits import limit_cpu, limit_memory

CPU_SECONDS = 300.0
"""Of one process, for all its drawings; another takes its place."""
MEMORY = 2 * 1024**3
MOST_LISTED = 2000


class RecordReader:
    """Answers questions about one file. Raises GdlError, as its methods do, where it cannot be read."""

    def __init__(self, path: str, text: str) -> None:
        self._rules: dict[str, str] = {}
        self._records: list[dict[str, Any]] = []
        if Path(path).suffix in TOURNAMENTS:
            self._read_tournament(Path(path))
        else:
            self._records = matches_in(_read(Path(path)) if path else text.encode("utf-8", "surrogatepass"))

    def _read_tournament(self, path: Path) -> None:
        from ggp.tournament.session import stored_settings
        from ggp.tournament.store import Store

        with Store(path, writing=False) as store:
            settings = stored_settings(store)
            if settings is not None:
                self._rules = {game.name: game.rules for game in settings.games}
            self._records = [{"game": fixture.game, **record} for fixture, record in store.records()]
        if not self._records:
            raise GdlError("this tournament has no matches yet")

    def matches(self) -> list[dict[str, Any]]:
        """What is in the file."""
        return [_summary(record) for record in self._records[:MOST_LISTED]]

    @functools.lru_cache(maxsize=4)  # noqa: B019  (there is one in each process)
    def scenes(self, index: int, game: str) -> Scenes:
        """One match."""
        if not 0 <= index < len(self._records):
            raise GdlError(f"this file has no match {index}")
        log = parse_match(self._records[index])
        return Scenes(log, "" if game else self._rules.get(log.game, ""), game)


def _summary(record: dict[str, Any]) -> dict[str, Any]:
    try:
        return summary(record)
    except GdlError as error:
        return {"id": str(error), "game": "", "players": [], "goals": [], "steps": 0, "faults": 0}


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise GdlError(f"cannot read {path.name}: {error.strerror}") from None


def main() -> None:
    """Answer until the other end is gone."""
    inbox = Inbox()
    parent = Parent(inbox.put)
    limit_memory(MEMORY)
    limit_cpu(CPU_SECONDS)
    reader: RecordReader | None = None
    while True:
        order: JsonMessage = inbox.get()
        try:
            if order["do"] == "open":
                reader = RecordReader(order["path"], order["text"])
                parent.send("done", matches=reader.matches())
            elif reader is not None:
                scenes = reader.scenes(order["index"], order["game"])
                if order["do"] == "match":
                    parent.send("done", **scenes.about())
                else:
                    steps = range(order["first"], order["first"] + order["count"])
                    parent.send("done", drawings=[scenes.draw(n) for n in steps])
        except BrokenPipeError:
            return
        except Exception as error:
            parent.send("refused", error=explain(error, "drawing").replace("\n", " "))


if __name__ == "__main__":
    main()

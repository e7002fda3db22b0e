"""What a server shows of its matches: all to this computer, to others and the log no whole id."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ggp.protocol.event_source import EventSource, encode
from ggp.server.clients.callers import Veil
from ggp.server.match import ServedMatch
from ggp.server.status import EndedStatus, ServerStatus

SHOWN_ENDED = 20
"""Finished matches on the status page."""


class Shown:
    """The status page's contents and the events.

    Args:
        name, player: of the server.
        running: the matches that are being played.
    """

    def __init__(self, name: str, player: str, running: Callable[[], Sequence[ServedMatch]]) -> None:
        self._name, self._player = name, player
        self._running = running
        self._veil = Veil()
        self._ended: deque[EndedStatus] = deque(maxlen=SHOWN_ENDED)
        self._news = EventSource(lambda: self._known(True))
        self._outside_news = EventSource(lambda: self._known(False))

    def ended(self, match: EndedStatus) -> None:
        """A match is over."""
        self._ended.append(match)

    def status(self, facts: Sequence[tuple[str, str]], here: bool) -> ServerStatus:
        """The status page; only ``here``, on this computer, with whole ids and what the search says."""
        live = [match.status() for match in self._running()]
        ended = list(reversed(self._ended))
        if not here:
            live = [replace(match, id=self._veil.name(match.id), note="") for match in live]
            ended = [replace(match, id=self._veil.name(match.id)) for match in ended]
        return ServerStatus(self._name, facts, live, ended)

    def news(self, here: bool) -> EventSource:
        """What happens in the matches, for readers ``here`` or for others."""
        return self._news if here else self._outside_news

    def publish(self, event: str, data: dict[str, Any]) -> None:
        """Something has happened in the match that ``data`` names."""
        self._news.send(event, data)
        if self._outside_news.readers:
            self._outside_news.send(event, self._veiled(data))

    def for_log(self, fields: dict[str, object]) -> dict[str, object]:
        """The fields of a line of the log: ``match`` no whole id."""
        return self._veiled(fields) if "match" in fields else fields

    def _veiled(self, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "match": self._veil.name(str(data["match"]))}

    def _known(self, here: bool) -> list[bytes]:
        """What somebody who begins to look on is told."""
        told = [match.news.told() for match in self._running()]
        matches = [encode("match", data if here else self._veiled(data)) for data in told]
        return [encode("server", {"name": self._name, "player": self._player}), *matches]

"""The matches of a server by their ids: the addresses that may send messages of each, and the data shown of
them.

A match belongs to the address that started it; for any other address it does not exist. This computer sees
whole ids, other computers and the log do not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ggp.protocol.event_source import EventSource, encode
from ggp.server.clients.visitors import Veil
from ggp.server.match import ServedMatch
from ggp.server.status import EndedStatus, ServerStatus

_REMEMBERED = 64
"""Finished matches whose STOP and ABORT are answered if they are repeated."""


class Roster:
    """The matches by id, in upper or lower case.

    ``any_sender``: every address may send messages of all matches.
    """

    def __init__(self, any_sender: bool) -> None:
        self._any = any_sender
        self._live: dict[str, tuple[ServedMatch, str]] = {}
        self._finished: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        return len(self._live)

    @property
    def matches(self) -> list[ServedMatch]:
        """The matches that are being played."""
        return [match for match, _ in self._live.values()]

    def add(self, match: ServedMatch, sender: str) -> None:
        """Add a match started by this address (:func:`ggp.server.clients.visitors.sender_of`)."""
        self._live[match.id.lower()] = match, sender

    def taken(self, match_id: str) -> bool:
        """Whether a match with this id is being played, whichever address started it."""
        return match_id.lower() in self._live

    def get(self, match_id: str, sender: str) -> ServedMatch | None:
        """The match with this id if this address may send messages of it, otherwise None."""
        match, owner = self._live.get(match_id.lower(), (None, ""))
        return match if self._any or owner == sender else None

    def finish(self, match: ServedMatch) -> bool:
        """Finish a match; False if it was already finished."""
        found, owner = self._live.get(match.id.lower(), (None, ""))
        if found is not match:
            return False
        del self._live[match.id.lower()]
        self._finished.append((match.id.lower(), owner))
        return True

    def finished(self, match_id: str, sender: str) -> bool:
        """Whether a match of this address has ended recently."""
        return any(
            key == match_id.lower() and (self._any or owner == sender) for key, owner in self._finished
        )


_SHOWN_ENDED = 20
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
        self._ended: deque[EndedStatus] = deque(maxlen=_SHOWN_ENDED)
        self._news = EventSource(lambda: self._snapshot(True))
        self._outside_news = EventSource(lambda: self._snapshot(False))

    def ended(self, match: EndedStatus) -> None:
        """Add a match that is over."""
        self._ended.append(match)

    def status(self, facts: Sequence[tuple[str, str]], here: bool) -> ServerStatus:
        """The status page. Only ``here``, on this computer, it has whole ids and the search's reports."""
        live = [match.status() for match in self._running()]
        ended = list(reversed(self._ended))
        if not here:
            live = [replace(match, id=self._veil.name(match.id), note="") for match in live]
            ended = [replace(match, id=self._veil.name(match.id)) for match in ended]
        return ServerStatus(self._name, facts, live, ended)

    def news(self, here: bool) -> EventSource:
        """The events of the matches, for readers ``here`` or on other computers."""
        return self._news if here else self._outside_news

    def publish(self, event: str, data: dict[str, Any]) -> None:
        """Publish an event of the match that ``data`` names."""
        self._news.send(event, data)
        if self._outside_news.readers:
            self._outside_news.send(event, self._veiled(data))

    def for_log(self, fields: dict[str, object]) -> dict[str, object]:
        """The fields of a line of the log, without the whole id of a ``match``."""
        return self._veiled(fields) if "match" in fields else fields

    def _veiled(self, data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "match": self._veil.name(str(data["match"]))}

    def _snapshot(self, here: bool) -> list[bytes]:
        """The events for a new reader: the server and its matches."""
        snapshots = [match.news.snapshot() for match in self._running()]
        matches = [encode("match", data if here else self._veiled(data)) for data in snapshots]
        return [encode("server", {"name": self._name, "player": self._player}), *matches]

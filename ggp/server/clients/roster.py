"""The matches of a server by their ids, each with who has started it: for anybody else there is none."""

from __future__ import annotations

from collections import deque

from ggp.server.match import ServedMatch

REMEMBERED = 64
"""Finished matches whose STOP and ABORT are answered once more."""


class Roster:
    """Ids are the same whatever their case.

    ``any_sender``: every address may send messages of all matches.
    """

    def __init__(self, any_sender: bool) -> None:
        self._any = any_sender
        self._live: dict[str, tuple[ServedMatch, str]] = {}
        self._finished: deque[tuple[str, str]] = deque(maxlen=REMEMBERED)

    def __len__(self) -> int:
        return len(self._live)

    @property
    def matches(self) -> list[ServedMatch]:
        """Those that are being played."""
        return [match for match, _ in self._live.values()]

    def add(self, match: ServedMatch, sender: str) -> None:
        """A match begins, started by this address (:func:`ggp.server.clients.callers.sender_of`)."""
        self._live[match.id.lower()] = match, sender

    def taken(self, match_id: str) -> bool:
        """Whether a match of this id is being played, whoever started it."""
        return match_id.lower() in self._live

    def get(self, match_id: str, sender: str) -> ServedMatch | None:
        """The match that this address may send messages of."""
        match, owner = self._live.get(match_id.lower(), (None, ""))
        return match if self._any or owner == sender else None

    def finish(self, match: ServedMatch) -> bool:
        """A match is over; False if it was so before."""
        known, owner = self._live.get(match.id.lower(), (None, ""))
        if known is not match:
            return False
        del self._live[match.id.lower()]
        self._finished.append((match.id.lower(), owner))
        return True

    def finished(self, match_id: str, sender: str) -> bool:
        """Whether a match of this address has ended lately."""
        return any(
            key == match_id.lower() and (self._any or owner == sender) for key, owner in self._finished
        )

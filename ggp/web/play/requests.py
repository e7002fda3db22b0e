"""The queue of requests to a table, in the order of arrival."""

from __future__ import annotations

import queue
from collections.abc import Callable

from ggp.processes.parent import Inbox, JsonMessage, Send

_PATIENT = ("move", "hint", "show", "keep", "walk")
"""Requests that do not interrupt a player's search."""


class Requests:
    """The waiting requests.

    Args:
        inbox: receives the requests.
        send: sends ``took`` whenever a request leaves the queue.
        refused: the reason why the table refuses a request; empty if it does not.
    """

    def __init__(self, inbox: Inbox, send: Send, refused: Callable[[JsonMessage], str]) -> None:
        self._inbox, self._send, self._refused = inbox, send, refused
        self._looked_at: list[JsonMessage] = []

    def urgent(self) -> bool:
        """Whether a request waits that is permitted and interrupts a player's search."""
        while not self._inbox.empty():
            self._looked_at.append(self._inbox.get())
        return any(one.get("do") not in _PATIENT and not self._refused(one) for one in self._looked_at)

    def next(self, seconds: float | None = None) -> JsonMessage | None:
        """The next request; None if none arrives within ``seconds``, which may be None for no limit."""
        try:
            if self._looked_at:
                request = self._looked_at.pop(0)
            else:
                request = self._inbox.get(timeout=None if seconds is None else max(seconds, 0.0))
        except queue.Empty:
            return None
        self._send("took")
        return request

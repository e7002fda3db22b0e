"""What people want of a table, in the order in which it came."""

from __future__ import annotations

import queue
from collections.abc import Callable

from ggp.processes.parent import Inbox, JsonMessage, Send

_PATIENT = ("move", "hint", "show", "keep", "walk")
"""Requests for which a player that thinks is not interrupted."""


class Requests:
    """The requests that wait.

    Args:
        inbox: where they come in.
        send: says ``took`` whenever one waits no longer.
        refused: whether the table refuses one.
    """

    def __init__(self, inbox: Inbox, send: Send, refused: Callable[[JsonMessage], str]) -> None:
        self._inbox, self._send, self._refused = inbox, send, refused
        self._looked_at: list[JsonMessage] = []

    def urgent(self) -> bool:
        """Whether somebody wants, and may have, what a player that thinks must not keep waiting."""
        while not self._inbox.empty():
            self._looked_at.append(self._inbox.get())
        return any(one.get("do") not in _PATIENT and not self._refused(one) for one in self._looked_at)

    def next(self, seconds: float | None = None) -> JsonMessage | None:
        """The next one; None if none comes for so long."""
        try:
            if self._looked_at:
                request = self._looked_at.pop(0)
            else:
                request = self._inbox.get(timeout=None if seconds is None else max(seconds, 0.0))
        except queue.Empty:
            return None
        self._send("took")
        return request

"""Server-sent events to the readers of pages."""

from __future__ import annotations

from aiohttp import web

from ggp.events.stream import EventStream, encode
from ggp.web.gate import protect

__all__ = ["Broadcast", "encode"]


class Broadcast(EventStream):
    """One source of events, as :class:`ggp.events.stream.EventStream`, with the headers of every reply."""

    def _dress(self, reply: web.StreamResponse) -> None:
        protect(reply)

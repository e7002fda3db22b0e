"""Events for pages, with the headers that every reply of ``ggp web`` has."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web

from ggp.protocol.event_source import EventSource, encode
from ggp.web.gate import HEADERS
from ggp.web.visits import touch

__all__ = ["Broadcast", "encode"]


class Broadcast(EventSource):
    """One source of events; ``greeting`` as for :class:`~ggp.protocol.event_source.EventSource`."""

    def __init__(self, greeting: Callable[[], list[bytes]] = list) -> None:
        super().__init__(greeting, HEADERS)

    def wrote(self, request: web.Request) -> None:
        touch(request)

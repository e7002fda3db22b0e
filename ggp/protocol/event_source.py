"""Server-sent events for many readers: each event is encoded once, and a slow reader loses old ones.

The format is that of the HTML standard's ``EventSource``; :func:`read_events` reads it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import orjson
from aiohttp import web

BEHIND = 64
"""The most events that wait for one reader; beyond that the oldest are dropped."""
BEHIND_BYTES = 4 * 1024 * 1024
"""The most bytes of these events; the newest event waits whatever its length."""
_PING_SECONDS = 15.0
"""Seconds of silence after which a comment is sent, to find readers that have gone."""
_KIND = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}


class EventSource:
    """One source of events.

    Args:
        greeting: returns the first events for a new reader, which bring it up to date.
        headers: headers of each reply, in addition to the usual ones.

    Attributes:
        was_read: whether there has ever been a reader.
    """

    def __init__(
        self, greeting: Callable[[], list[bytes]] = list, headers: Mapping[str, str] | None = None
    ) -> None:
        self._greeting = greeting
        self._headers = {**_KIND, **(headers or {})}
        self._readers: set[_Reader] = set()
        self.was_read = False

    @property
    def readers(self) -> int:
        """Number of readers that are listening."""
        return len(self._readers)

    def send(self, event: str, data: Any) -> None:
        """Send an event to all readers."""
        if self._readers:
            encoded = encode(event, data)
            for reader in self._readers:
                reader.add(encoded)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """The reply to a reader; it ends when the reader disconnects."""
        reply = web.StreamResponse(headers=self._headers)
        await reply.prepare(request)
        if request.method == "HEAD":
            return reply
        reader = _Reader()
        for event in self._greeting():
            reader.add(event)
        self._readers.add(reader)
        self.was_read = True
        try:
            while True:
                while reader.waiting:
                    await reply.write(reader.take())
                    self.wrote(request)
                reader.news.clear()
                try:
                    async with asyncio.timeout(_PING_SECONDS):
                        await reader.news.wait()
                except TimeoutError:
                    await reply.write(b":\n\n")
                    self.wrote(request)
        except ConnectionError:
            return reply
        finally:
            self._readers.discard(reader)

    def wrote(self, request: web.Request) -> None:
        """Note that a reader has accepted data."""


class _Reader:
    def __init__(self) -> None:
        self.waiting: deque[bytes] = deque()
        self.news = asyncio.Event()
        self._size = 0

    def add(self, event: bytes) -> None:
        """Add an event to those that wait; if there are too many, drop the oldest."""
        self.waiting.append(event)
        self._size += len(event)
        while len(self.waiting) > 1 and (len(self.waiting) > BEHIND or self._size > BEHIND_BYTES):
            self.take()
        self.news.set()

    def take(self) -> bytes:
        """The oldest waiting event, which is removed."""
        event = self.waiting.popleft()
        self._size -= len(event)
        return event


def encode(event: str, data: Any) -> bytes:
    """One event in the form that is sent; ``data`` as JSON on one line."""
    return b"event: %s\ndata: %s\n\n" % (event.encode(), orjson.dumps(data))


async def read_events(lines: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, Any]]:
    """Names and data of events as :func:`encode` writes them. Raises ValueError for data that is not JSON."""
    name = ""
    async for line in lines:
        text = line.rstrip(b"\r\n")
        if text.startswith(b"event: "):
            name = text[7:].decode("utf-8", "replace")
        elif text.startswith(b"data: "):
            yield name, orjson.loads(text[6:])

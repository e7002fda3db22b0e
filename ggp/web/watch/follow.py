"""Hears the events of one player's server, for as long as it takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Any

import aiohttp

from gdl.errors import GdlError
from ggp.protocol.address import Address, parse_address
from ggp.protocol.event_source import read_events
from ggp.server.log_lines import say

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 5.0
SILENCE_SECONDS = 40.0
"""A server that says nothing for so long has gone: it pings more often."""
LONGEST_LINE = 8 * 1024 * 1024
BYTES_PER_SECOND = 4 * 1024 * 1024
LINES_PER_SECOND = 2000
BURST_SECONDS = 4.0
"""For so long a server may tell more at once, as when it is heard again; then it has to wait."""
Hear = Callable[[str, dict[str, Any]], None]
"""Takes an event's name and data."""


class EventFollower:
    """One server.

    Args:
        address: as people write it: ``http://host:port``. Raises GdlError if it is none.
        hear: takes each event.
        reached: is told whether the server can be heard.
    """

    def __init__(self, address: str, hear: Hear, reached: Callable[[bool], None]) -> None:
        self.address: Address = parse_address(address)
        self._hear = hear
        self._reached = reached

    @property
    def url(self) -> str:
        """Where the events are."""
        host = f"[{self.address.host}]" if ":" in self.address.host else self.address.host
        return f"http://{host}:{self.address.port}/events"

    async def run(self) -> None:
        """Hear until cancelled; what breaks is begun again."""
        pause = FIRST_PAUSE
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=5.0, sock_read=SILENCE_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
            while True:
                try:
                    async with session.get(self.url, read_bufsize=LONGEST_LINE) as reply:
                        if reply.status != 200 or reply.content_type != "text/event-stream":
                            raise GdlError(f"answers {reply.status} {reply.content_type}: no events")
                        self._reached(True)
                        pause = FIRST_PAUSE
                        async for name, data in read_events(_paced(reply.content)):
                            if isinstance(data, dict):
                                self._hear(name, data)
                except (aiohttp.ClientError, OSError, TimeoutError, ValueError, GdlError) as error:
                    say("debug", "not watched", server=self.url, error=str(error)[:200])
                self._reached(False)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)


async def _paced(lines: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The lines, no faster than a server may tell: reading and showing them takes time from everybody."""
    paid = time.monotonic()
    async for line in lines:
        now = time.monotonic()
        paid = max(paid, now) + max(len(line) / BYTES_PER_SECOND, 1 / LINES_PER_SECOND)
        if paid > now + BURST_SECONDS:
            await asyncio.sleep(paid - now - BURST_SECONDS)
        yield line

"""Follows what programs tell of their matches, and comes back to them when they have been away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from gdl.errors import GdlError
from ggp.web.broadcast import Broadcast, encode
from ggp.web.watch.live_match import LiveMatch, key_of, text_of

MAX_EVENT = 32 * 1024 * 1024
"""Bytes of one event."""
SILENCE_SECONDS = 40.0
"""A program that says nothing for so long, not even a comment, has gone."""
CONNECT_SECONDS = 5.0
PAUSES = (0.3, 0.5, 1.0, 2.0, 5.0)
"""Seconds between attempts to reach it, the last again and again."""
MOST_MATCHES = 64
"""Of one program; those that ended first are forgotten first."""
LIST_SECONDS = 0.5
"""Between two lists to those who read the list."""


class LiveMatches:
    """All matches of some programs; use :meth:`open` and :meth:`close`."""

    def __init__(self, addresses: Iterable[str]) -> None:
        self.sources = [MatchSource(address, self.tell) for address in dict.fromkeys(addresses)]
        self.news = Broadcast(lambda: [encode("list", self.listed())])
        self._tasks: list[asyncio.Task[None]] = []
        self._telling: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Begin to follow."""
        self._tasks = [asyncio.create_task(source.follow()) for source in self.sources]

    async def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._telling is not None:
            self._telling.cancel()
        for source in self.sources:
            for match in source.matches.values():
                await match.close()

    def get(self, key: str) -> LiveMatch:
        """The match of this key. Raises GdlError where there is none."""
        for source in self.sources:
            if (match := source.matches.get(key)) is not None:
                return match
        raise GdlError("this match is not being told of", remedy="its program may come back")

    def tell(self) -> None:
        """The list has changed: tell its readers soon."""
        if self._telling is None:
            loop = asyncio.get_running_loop()
            self._telling = loop.call_later(LIST_SECONDS, self._send_list)

    def _send_list(self) -> None:
        self._telling = None
        self.news.send("list", self.listed())

    def listed(self) -> dict[str, Any]:
        """The programs and their matches, the newest first."""
        return {
            "sources": [
                {
                    "address": source.address,
                    "name": source.name,
                    "connected": source.connected,
                    "problem": source.problem,
                    "matches": [match.listed() for match in reversed(source.matches.values())],
                }
                for source in self.sources
            ]
        }


class MatchSource:
    """One program. ``told`` is called whenever anything changes in the list. Raises GdlError where the
    address is none."""

    def __init__(self, address: str, told: Any) -> None:
        self.address = checked(address)
        self.name = ""
        self.connected = False
        self.problem = ""
        self.matches: dict[str, LiveMatch] = {}
        self._told = told

    async def follow(self) -> None:
        """Follow it for ever."""
        failures = 0
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
            while True:
                try:
                    await self._read(session)
                    self.problem = "the connection has ended"
                except (aiohttp.ClientError, OSError, TimeoutError) as error:
                    self.problem = text_of(error) or type(error).__name__
                except (
                    ValueError,
                    KeyError,
                    TypeError,
                    AttributeError,
                    LookupError,
                    RecursionError,
                ) as error:
                    self.problem = f"it tells what cannot be read: {text_of(error)}"
                failures = 0 if self.connected else failures + 1
                self._connect(False)
                await asyncio.sleep(PAUSES[min(failures, len(PAUSES) - 1)])

    async def _read(self, session: aiohttp.ClientSession) -> None:
        headers = {"Accept": "text/event-stream"}
        address = f"{self.address}/events"
        async with session.get(
            address, headers=headers, read_bufsize=MAX_EVENT, allow_redirects=False
        ) as reply:
            if reply.status != 200 or reply.content_type != "text/event-stream":
                raise aiohttp.ClientError(f"it answers {reply.status}, and tells of no matches")
            while True:
                try:
                    block = await reply.content.readuntil(b"\n\n")
                except asyncio.IncompleteReadError:
                    return
                if not block:
                    return
                self._take(block)

    def _take(self, block: bytes) -> None:
        fields: dict[bytes, bytes] = {}
        for line in block.splitlines():
            name, _, value = line.partition(b":")
            fields[name] = value.removeprefix(b" ")
        if b"data" not in fields:
            return  # a comment
        told = json.loads(fields[b"data"])
        match fields.get(b"event"):
            case b"all":
                self._take_all(told)
            case b"begin":
                self._begin(told)
            case b"step":
                match = self._of(told)
                match.step(told)
            case b"think":
                self._of(told).think(told)
                return  # the list does not show it
            case b"end":
                self._of(told).end(told)
        self._told()

    def _take_all(self, told: dict[str, Any]) -> None:
        self.name = text_of(told["source"])
        self._connect(True)
        for match in told["matches"][-MOST_MATCHES:]:
            self._begin(match)
        alive = {key_of(self.address, text_of(match["match"])) for match in told["matches"]}
        for key, match in self.matches.items():
            if key not in alive and not match.over:
                match.connect(False)

    def _begin(self, told: dict[str, Any]) -> None:
        key = key_of(self.address, text_of(told["match"]))
        match = self.matches.get(key)
        if match is not None and match.is_of(told):
            match.connect(True)
            match.update(told)
            return
        if match is not None:
            self._forget(key)
        self.matches[key] = LiveMatch(self.address, told)
        if len(self.matches) > MOST_MATCHES:
            ended = next((key for key, match in self.matches.items() if match.over), next(iter(self.matches)))
            self._forget(ended)

    def _forget(self, key: str) -> None:
        match = self.matches.pop(key)
        self._closing = asyncio.create_task(match.close())

    def _of(self, told: dict[str, Any]) -> LiveMatch:
        return self.matches[key_of(self.address, text_of(told["match"]))]

    def _connect(self, connected: bool) -> None:
        self.connected = connected
        if connected:
            self.problem = ""
        else:
            for match in self.matches.values():
                if not match.over:
                    match.connect(False)
        self._told()


def checked(address: str) -> str:
    """An address as it is asked. Raises GdlError where it is none."""
    full = address if "://" in address else f"http://{address}"
    try:
        parts = urlsplit(full)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        known = False
    if not known:
        raise GdlError(f"--watch {address} is no address", remedy="write http://host:port")
    return full.rstrip("/").removesuffix("/events")

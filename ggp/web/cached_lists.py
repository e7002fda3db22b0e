"""Caches of slow answers: lists that every GET of a page needs, and the drawings of cards."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import orjson
from aiohttp import web

from gdl.errors import GdlError
from ggp.answers.catalogue import known_cards, known_games
from ggp.processes.budget import WorkBudget
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError

T = TypeVar("T")
SHARE = 10.0
"""A list is cached for SHARE times as long as it took to make. So making it takes a tenth of the time."""
LONGEST = 60.0
"""Longest time in seconds that a list is cached."""


class CachedList(Generic[T]):
    """A cached value. A thread makes it, and simultaneous callers share one thread.

    To be used within one event loop.

    Args:
        make: makes the value. Its exceptions are raised in every waiting caller.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._making: asyncio.Task[T] | None = None
        self._until = 0.0

    async def get(self) -> T:
        """The cached value, made again if it is too old."""
        making = self._making
        if making is None or (making.done() and time.monotonic() > self._until):
            making = self._making = asyncio.create_task(self._begin())
        return await asyncio.shield(making)

    async def _begin(self) -> T:
        began = time.monotonic()
        try:
            return await asyncio.to_thread(self._make)
        finally:
            now = time.monotonic()
            self._until = now + min(LONGEST, SHARE * (now - began))


class Names:
    """The lists of names, each made on first use. To be used within one event loop."""

    def __init__(self) -> None:
        self.games = CachedList(known_games)
        self.cards = CachedList(known_cards)


KNOWN = web.AppKey("names", Names)


_MOST_DRAWN = 64 * 1024 * 1024
"""Total bytes of the drawings of one process; the least recently used one is dropped first."""
_AGAIN_SECONDS = 60.0
"""Seconds before a drawing that failed is tried again."""


class CachedDrawings:
    """The answers of a process that draws, one after the other. To be used within one event loop."""

    def __init__(self, kind: WorkKind, budget: WorkBudget) -> None:
        self._workers = Workers(kind, budget)
        self.close = self._workers.close
        self._lock = asyncio.Lock()
        self._drawn: OrderedDict[Hashable, tuple[JsonMessage, int]] = OrderedDict()
        self._failed: dict[Hashable, tuple[float, GdlError]] = {}

    async def get(self, key: Hashable, request: JsonMessage) -> JsonMessage:
        """The answer to a request; ``key`` distinguishes it from others. Raises BusyError, and GdlError if
        it cannot be drawn."""
        async with self._lock:
            until, error = self._failed.get(key, (0.0, GdlError("")))
            if time.monotonic() < until:
                raise error
            try:
                known = self._drawn.pop(key, None)
                if known is None:
                    answer = await self._workers.ask("cards", {"do": "draw", **request})
                    known = answer, len(orjson.dumps(answer))
            except BusyError:
                raise
            except GdlError as fault:
                self._failed[key] = time.monotonic() + _AGAIN_SECONDS, fault
                raise
            self._drawn[key] = known
            while sum(size for _, size in self._drawn.values()) > _MOST_DRAWN:
                self._drawn.popitem(last=False)
        return known[0]

"""Cached lists that are slow to make and needed by every GET of a page, made outside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from aiohttp import web

from ggp.answers.catalogue import known_cards, known_games, known_levels

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
        self.levels = CachedList(known_levels)


KNOWN = web.AppKey("names", Names)

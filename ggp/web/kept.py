"""Lists that take long to make and that every GET of a page needs: made once for all, off the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from aiohttp import web

from ggp.answers.catalogue import known_cards, known_games, known_levels, known_puzzles

T = TypeVar("T")
SHARE = 10.0
"""A list is kept so many times as long as it took to make: a tenth of the time at most goes into it."""
LONGEST = 60.0
"""Seconds that it is kept at most."""


class Kept(Generic[T]):
    """Something that is made in a thread, by one maker at a time, for everybody who asks meanwhile.

    To be used within one event loop.

    Args:
        make: makes it; what it raises, all who wait for it are told.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._making: asyncio.Task[T] | None = None
        self._until = 0.0

    async def get(self) -> T:
        """The newest one that is not too old."""
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
    """The lists of names, each made when it is first needed. To be used within one event loop."""

    def __init__(self) -> None:
        self.games = Kept(known_games)
        self.cards = Kept(known_cards)
        self.levels = Kept(known_levels)
        self.puzzles = Kept(known_puzzles)


KNOWN = web.AppKey("names", Names)

"""Looks at a tournament's file while somebody looks on, and tells what has changed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.tournament.statistics.sprt import Sprt
from ggp.web.broadcast import Broadcast, encode
from ggp.web.dashboard.tables import tables_of

LOOK_SECONDS = 1.0
UNWATCHED_SECONDS = 30.0
"""After so long without readers it stops."""


class LiveTournament:
    """One tournament. ``news`` has ``tables`` events, and ``trouble`` where it cannot be read."""

    def __init__(self, path: Path, sprt: Sprt | None) -> None:
        self.news = Broadcast(self._greeting)
        self._path, self._sprt = path, sprt
        self._tables: dict[str, Any] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Have the newest tables, and go on looking. Raises GdlError where there are none."""
        if self._looking is None or self._looking.done():
            self._tables = await self._read()
            self._looking = asyncio.create_task(self._look())

    def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    def _greeting(self) -> list[bytes]:
        return [] if self._tables is None else [encode("tables", self._tables)]

    async def _read(self) -> dict[str, Any]:
        return await asyncio.to_thread(tables_of, self._path, self._sprt)

    async def _look(self) -> None:
        seen, last = self._stamp(), time.monotonic()
        while time.monotonic() - last < UNWATCHED_SECONDS:
            await asyncio.sleep(LOOK_SECONDS)
            if not self.news.readers:
                continue
            last = time.monotonic()
            now = self._stamp()
            if now == seen:
                continue
            seen = now
            try:
                self._tables = await self._read()
                self.news.send("tables", self._tables)
            except GdlError as error:
                self.news.send("trouble", {"text": without_folders(str(error))})

    def _stamp(self) -> list[tuple[int, int]]:
        """Changes when the file does; new rows are in the log beside it at first."""
        stamps = []
        for path in (self._path, self._path.with_name(self._path.name + "-wal")):
            try:
                told = path.stat()
                stamps.append((told.st_mtime_ns, told.st_size))
            except OSError:
                stamps.append((0, 0))
        return stamps

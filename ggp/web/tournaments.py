"""The tournament pages: a list, a page for each tournament, and events while its file grows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from aiohttp import web

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.tournament.session import parse_test
from ggp.web.replay.routes import SHELF
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import Broadcast, add_page, encode, page

WORK = WorkKind(
    "ggp.web.tournament_process", "this tournament", most=4, seconds=30.0, longest=32 * 1024 * 1024
)
SHARE = 10.0
"""The pause between two looks at a file is SHARE times the duration of a look, at least `LOOK_SECONDS`."""
LOOK_SECONDS = 1.0
_UNWATCHED_SECONDS = 30.0
"""A tournament that has no readers for this time is no longer followed."""


class _LiveTournament:
    """One tournament. ``news`` sends ``tables`` events, or ``trouble`` if the file cannot be read.

    Args:
        path: the tournament's file.
        sprt: the sequential test as ``ELO0,ELO1``; empty for none.
        workers: the processes that read.
    """

    def __init__(self, path: Path, sprt: str, workers: Workers) -> None:
        self.news = Broadcast(self._greeting)
        self._path, self._sprt, self._workers = path, sprt, workers
        self._tables: dict[str, Any] | None = None
        self._beginning: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Read the newest tables and keep following the file. Simultaneous calls share one reading. Raises
        GdlError if there are no tables."""
        if self._looking is not None and not self._looking.done():
            return
        if self._beginning is None or self._beginning.done():
            self._beginning = asyncio.create_task(self._begin())
        await asyncio.shield(self._beginning)

    def close(self) -> None:
        """Stop following the file."""
        for task in (self._beginning, self._looking):
            if task is not None:
                task.cancel()

    async def _begin(self) -> None:
        self._tables = await self._read()
        self._looking = asyncio.create_task(self._look())

    def _greeting(self) -> list[bytes]:
        return [] if self._tables is None else [encode("tables", self._tables)]

    async def _read(self) -> dict[str, Any]:
        request = {"do": "tables", "path": str(self._path), "sprt": self._sprt}
        # All tournaments share the processes, because more of them may be followed than there are processes.
        slot = crc32(str(self._path).encode(errors="replace")) % WORK.most
        tables: dict[str, Any] = (await self._workers.ask(str(slot), request))["tables"]
        return tables

    async def _look(self) -> None:
        seen, last, took = self._stamp(), time.monotonic(), 0.0
        while time.monotonic() - last < _UNWATCHED_SECONDS:
            await asyncio.sleep(max(LOOK_SECONDS, SHARE * took))
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
            took = time.monotonic() - last

    def _stamp(self) -> list[tuple[int, int]]:
        """Changes when the file does. New rows are first written to its write-ahead log."""
        stamps = []
        for path in (self._path, self._path.with_name(self._path.name + "-wal")):
            try:
                status = path.stat()
                stamps.append((status.st_mtime_ns, status.st_size))
            except OSError:
                stamps.append((0, 0))
        return stamps


MOST = 32
"""Tournaments that are followed at the same time."""
WORKERS = web.AppKey("tables_workers", Workers)
_LIVE = web.AppKey("live", dict[tuple[str, str], _LiveTournament])


def add_routes(app: web.Application) -> None:
    """Add the routes to the application; the files are those of :mod:`ggp.web.replay`."""
    app[_LIVE] = {}
    add_owner(app, WORKERS, partial(Workers, WORK))
    app.cleanup_ctx.append(_close)
    add_page(app, "/tournaments", _page)
    app.router.add_get("/tournaments/events", _events)


async def _close(app: web.Application) -> AsyncIterator[None]:
    yield
    for live in app[_LIVE].values():
        live.close()


async def _page(request: web.Request) -> web.Response:
    shelf = request.app[SHELF]
    name = request.query.get("file", "")
    if name:
        shelf.path(name, "tournament")
    listed = [] if name else await shelf.listed.get()
    files = [one for one in listed if one["kind"] == "tournament"]
    folder = shelf.folder is not None
    styles = ("replay.css", "dashboard.css")
    sprt = request.query.get("sprt", "")
    return page(
        request, "Tournaments", "dashboard.js", styles, file=name, files=files, folder=folder, sprt=sprt
    )


async def _events(request: web.Request) -> web.StreamResponse:
    name, test = request.query.get("file", ""), request.query.get("sprt", "")
    path = request.app[SHELF].path(name, "tournament")
    if test:
        parse_test(test)
    tournaments = request.app[_LIVE]
    live = tournaments.get((name, test))
    if live is None:
        idle = [key for key, one in tournaments.items() if not one.news.readers]
        if len(tournaments) >= MOST:
            if not idle:
                raise BusyError("too many tournaments are looked at")
            tournaments.pop(idle[0]).close()
        live = tournaments[name, test] = _LiveTournament(path, test, request.app[WORKERS])
    await live.begin()
    return await live.news.stream(request)


ROOM = PageRoom(add_routes, "/tournaments", "Tournaments", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

"""The tournament pages: a list, a page for each tournament, events while its file grows, and tournaments that
pages begin.

A page names bundled games and public players only. Its tournament counts in the budget of all work for
visitors. It plays one match after the other, and leaves out what is not played after half an hour.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import matching, number, record, rows, text, whole
from gdl.terms import RANDOM
from gdl.visible import without_folders
from ggp.processes.budget import WorkNeed
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.tournament.schedule import count_matches
from ggp.tournament.session import parse_test
from ggp.tournament.settings import Entrant
from ggp.web.begun_process import SECONDS
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import SETTINGS
from ggp.web.replay.routes import SHELF
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import Broadcast, add_page, encode, page
from ggp.web.visits import fields, json_object
from players.processes.limits import cores
from players.registry import check_public

WORK = WorkKind(
    "ggp.web.tournament_process", "this tournament", most=4, seconds=30.0, longest=32 * 1024 * 1024
)
PLAYING = WorkKind(
    "ggp.web.begun_process",
    "playing tournaments",
    most=2,
    seconds=SECONDS + 60.0,
    need=WorkNeed(6, 768 * 1024**2),
)
MOST_BEGUN = 100
"""The most matches of a tournament that a page begins."""
_BEGUN = fields(
    games=rows(text(200), 1, 8),
    players=rows(record(name=matching(r"[\w :=.+-]{1,40}"), player=text(200, 1)), 2, 8),
    rounds=whole(1, 20),
    playclock=number(0.05, 10.0),
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
BEGUN_WORKERS = web.AppKey("begun_workers", Workers)
_LIVE = web.AppKey("live", dict[tuple[str, str], _LiveTournament])
_PLAYED = web.AppKey("played", dict[str, tuple[str, asyncio.Task[Any]]])
"""The tournaments that are being played: file -> the key of the page that began it, and the play."""


def add_routes(app: web.Application) -> None:
    """Add the routes to the application; the files are those of :mod:`ggp.web.replay`."""
    app[_LIVE], app[_PLAYED] = {}, {}
    add_owner(app, WORKERS, partial(Workers, WORK))
    add_owner(app, BEGUN_WORKERS, partial(Workers, PLAYING))
    app.cleanup_ctx.append(_close)
    add_page(app, "/tournaments", _page)
    app.router.add_get("/tournaments/events", _events)
    app.router.add_post("/tournaments/begin", _begin)
    app.router.add_post("/tournaments/stop", _stop)


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
    styles = ("cards.css", "replay.css", "dashboard.css")
    return page(
        request,
        "Tournaments",
        "dashboard.js",
        styles,
        file=name,
        files=files,
        sprt=request.query.get("sprt", ""),
        playing=list(request.app[_PLAYED]),
        games=[] if name else await _offered(request),
        players=request.app[SETTINGS].players,
    )


async def _offered(request: web.Request) -> list[dict[str, Any]]:
    """The games of two players and more: ``name``, ``title``, ``people``."""
    cards = await request.app[KNOWN].cards.get()
    people = [sum(role != RANDOM.name for role in card["roles"]) for card in cards]
    return [
        {"name": card["name"], "title": card["title"], "people": count}
        for card, count in zip(cards, people, strict=True)
        if count > 1
    ]


async def _begin(request: web.Request) -> web.Response:
    """Begin a tournament, and answer with its page and the key that stops it."""
    body = json_object(request, _BEGUN)
    offered = {game["name"]: game for game in await _offered(request)}
    if unknown := [name for name in body["games"] if name not in offered]:
        raise GdlError(f"there is no game {unknown[0]!r} for two players and more")
    for given in body["players"]:
        check_public(given["player"], request.app[SETTINGS].players)
        if Entrant(given["name"], given["player"]).workers(cores()):
            raise GdlError("these players have no processes of their own", remedy="leave out workers=")
    games = {name: offered[name]["people"] for name in body["games"]}
    if (count := count_matches(games, len(body["players"]), body["rounds"])) > MOST_BEGUN:
        raise GdlError(
            f"{count:,} matches are more than {MOST_BEGUN}", remedy="fewer games, players or rounds"
        )
    shelf, workers, played = request.app[SHELF], request.app[BEGUN_WORKERS], request.app[_PLAYED]
    path = shelf.begin_tournament(busy=played)
    name, begun = path.name, asyncio.get_running_loop().create_future()
    names = [f"{given['name']}@{given['player']}" for given in body["players"]]
    title = ", ".join(offered[name]["title"] for name in games)
    order = {**body, "do": "play", "path": str(path), "name": title, "players": names}

    def heard(message: object) -> None:
        if not begun.done():
            begun.set_result(None)

    async def play() -> None:
        try:
            await workers.ask(name, order, news=heard)
        finally:
            played.pop(name, None)
            await workers.end(name)

    key, task = secrets.token_urlsafe(12), asyncio.create_task(play())
    played[name] = key, task
    await asyncio.wait((task, begun), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()  # raises why it could not begin
    return web.json_response({"page": f"/tournaments?file={name}", "file": name, "key": key})


async def _stop(request: web.Request) -> web.Response:
    """End a tournament that the page with this key has begun; what was played stays."""
    body = json_object(request, fields(file=text(200, 1), key=text(100, 1)))
    key, _ = request.app[_PLAYED].get(body["file"], ("", None))
    if not hmac.compare_digest(key.encode(), body["key"].encode()):
        raise GdlError("this tournament is over, or another page has begun it")
    await request.app[BEGUN_WORKERS].end(body["file"])
    return web.json_response({})


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


ROOM = PageRoom(add_routes, "/tournaments", "Tournaments", (WORK.module, PLAYING.module))
"""An entry point of ``kaskade.rooms``."""

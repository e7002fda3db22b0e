"""The tournament pages: a list, a page for each tournament, events while its file grows, and tournaments that
pages begin.

A page names bundled games and public players only. Its tournament counts in the budget of all work for
visitors. It plays one match after the other, and leaves out what is not played after half an hour.
"""

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
from gdl.information import playing
from gdl.json_schema import matching, number, record, rows, text, whole
from gdl.terms import RANDOM
from gdl.visible import without_folders
from ggp.answers.catalogue import checked_source
from ggp.game import Game
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.protocol.match_record import draw_seed
from ggp.tournament import bounds
from ggp.tournament.session import parse_test
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings
from ggp.tournament.store import Store
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import SETTINGS
from ggp.web.jobs import Jobs
from ggp.web.replay.routes import SHELF, drop_tournament
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import Broadcast, add_page, encode, page
from ggp.web.tournament_process import SECONDS
from ggp.web.visits import fields, json_object
from players.processes.limits import cores
from players.registry import check_public

WORK = WorkKind(
    "ggp.web.tournament_process", "this tournament", most=4, seconds=30.0, longest=32 * 1024 * 1024
)
PLAYING = WorkKind(WORK.module, "playing tournaments", most=2, need=WorkNeed(6, 768 << 20))
MOST_MATCHES = 100
"""The most matches of a tournament that a page begins."""
_MOST_STEPS = 400
"""Its matches are cut after this many joint moves."""
_BEGUN = fields(
    games=rows(text(200), 1, 8),
    players=rows(record(label=matching(r"[\w :=.+-]{1,40}"), spec=text(200, 1)), 2, 8),
    rounds=whole(1, 20),
    playclock=number(0.05, 10.0),
)
_START_SECONDS = 1.0
"""A tournament that ends within this time cannot be played, or is over."""
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
BEGUN = web.AppKey("begun", Jobs)
_LIVE = web.AppKey("live", dict[tuple[str, str], _LiveTournament])


def add_routes(app: web.Application) -> None:
    """Add the routes to the application; the files are those of :mod:`ggp.web.replay`."""
    app[_LIVE] = {}
    add_owner(app, WORKERS, partial(Workers, WORK))
    add_owner(app, BEGUN, _jobs)
    app.cleanup_ctx.append(_close)
    add_page(app, "/tournaments", _page)
    app.router.add_get("/tournaments/events", _events)
    app.router.add_post("/tournaments/begin", _begin)
    app.router.add_post("/tournaments/stop", _stop)


def _jobs(budget: WorkBudget) -> Jobs:
    most = 2 * PLAYING.most  # in memory, also those that are over
    return Jobs(PLAYING, budget, "tournament", at_once=PLAYING.most, most=most)


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
        playing=[job.request["file"] for job in request.app[BEGUN].running],
        games=[] if name else list((await _offered(request)).values()),
        players=request.app[SETTINGS].players,
        most=MOST_MATCHES,
    )


async def _offered(request: web.Request) -> dict[str, dict[str, Any]]:
    """The cards of the games for two players and more, by their names."""
    cards = await request.app[KNOWN].cards.get()
    return {card["name"]: card for card in cards if len({*card["roles"]} - {RANDOM.name}) > 1}


async def _begin(request: web.Request) -> web.Response:
    """Begin a tournament, and answer with its file and the key that stops it."""
    body = json_object(request, _BEGUN)
    jobs = request.app[BEGUN]
    jobs.check_room()
    offered = await _offered(request)
    if unknown := {name for name in body["games"] if name.partition(":")[0] not in offered}:
        raise GdlError(f"there is no game {min(unknown)!r} for two players and more")
    places = dict.fromkeys(checked_source({"game": name})["game"] for name in body["games"])
    entrants = tuple(Entrant(**given) for given in body["players"])
    for entrant in entrants:
        check_public(entrant.spec, request.app[SETTINGS].players)
        if entrant.workers(cores()):
            raise GdlError("these players have no processes of their own", remedy="leave out workers=")

    def store() -> Path:
        games = [Game.load(place) for place in places]
        specs = tuple(GameSpec(one.name, one.kif, len(playing(one.machine("prover").roles))) for one in games)
        title, clock = (
            ", ".join(offered[one.name.partition(":")[0]]["title"] for one in games),
            body["playclock"],
        )
        terms = {"seed": draw_seed() % bounds.SEED["maximum"], "max_steps": _MOST_STEPS}
        clocks = max(1.0, clock), clock
        settings = TournamentSettings(title, specs, entrants, body["rounds"], *clocks, **terms)
        if settings.matches > MOST_MATCHES:
            raise GdlError(
                f"{settings.matches:,} matches are more than {MOST_MATCHES}", remedy="choose fewer"
            )
        path = request.app[SHELF].begin_tournament()
        with Store(path) as file:
            file.set("settings", settings.as_json())
        return path

    path = await asyncio.to_thread(store)
    job = jobs.begin({"do": "play", "path": str(path), "file": path.name}, {}, SECONDS + 60)
    await job.wait(_START_SECONDS)
    if error := job.known.get("error"):
        drop_tournament(path)
        raise GdlError(error)
    return web.json_response({"file": path.name, "key": job.id})


async def _stop(request: web.Request) -> web.Response:
    """End a tournament for the page with its key; what was played stays."""
    jobs = request.app[BEGUN]
    await jobs.stop(jobs.get(json_object(request, fields(key=text(100, 1)))["key"]))
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


ROOM = PageRoom(add_routes, "/tournaments", "Tournaments", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

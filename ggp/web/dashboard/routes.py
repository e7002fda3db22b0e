"""What the tournaments' room answers: its list, a tournament's page and news."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from ggp.processes.workers import Workers
from ggp.protocol.http_error import BusyError
from ggp.tournament.session import parse_test
from ggp.web.dashboard.live import WORK, LiveTournament
from ggp.web.dashboard.tables_process import ERROR_RATE
from ggp.web.overseer import BUDGET
from ggp.web.replay.routes import SHELF
from ggp.web.shell import add_page, page

MOST = 32
"""Tournaments looked at, at once."""
WORKERS = web.AppKey("tables_workers", Workers)
LIVE = web.AppKey("live", dict[tuple[str, str], LiveTournament])


def add_routes(app: web.Application) -> None:
    """Add the room to the application; records are where :mod:`ggp.web.replay` has them."""
    app[LIVE] = {}
    app.cleanup_ctx.append(_close)
    add_page(app, "/tournaments", _page)
    app.router.add_get("/tournaments/events", _events)


async def _close(app: web.Application) -> AsyncIterator[None]:
    app[WORKERS] = workers = Workers(WORK, app[BUDGET])
    yield
    for live in app[LIVE].values():
        live.close()
    await workers.close()


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
        parse_test(test, ERROR_RATE)
    known = request.app[LIVE]
    live = known.get((name, test))
    if live is None:
        idle = [key for key, one in known.items() if not one.news.readers]
        if len(known) >= MOST:
            if not idle:
                raise BusyError("too many tournaments are looked at")
            known.pop(idle[0]).close()
        live = known[name, test] = LiveTournament(path, test, request.app[WORKERS])
    await live.begin()
    return await live.news.stream(request)

"""What the watching room answers: its list, a match's page, and their news."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from ggp.protocol.http_error import BusyError
from ggp.web.overseer import BUDGET
from ggp.web.play.routes import TABLES
from ggp.web.settings import WebSettings
from ggp.web.shell import add_page, page
from ggp.web.watch.watched import Watched

WATCHED = web.AppKey("watched", Watched)


def add_routes(app: web.Application, settings: WebSettings) -> None:
    """Add the room to the application, after that of the tables.

    Raises GdlError for an address that is none."""
    app[WATCHED] = Watched(settings.watch, app[BUDGET])
    app[TABLES].hear = app[WATCHED].hear_own
    app.cleanup_ctx.append(_follow)
    add_page(app, "/watch", _page)
    app.router.add_get("/watch/events", _list)
    app.router.add_get("/watch/{match}/events", _match)
    app.router.add_get("/watch/{match}/steps/{step:[0-9]{1,6}}", _step)


async def _follow(app: web.Application) -> AsyncIterator[None]:
    app[WATCHED].begin()
    yield
    await app[WATCHED].close()


async def _page(request: web.Request) -> web.Response:
    match = request.query.get("match", "")[:100]
    return page(request, "Watch", "watch.js", ("board.css", "replay.css", "watch.css"), match=match)


async def _list(request: web.Request) -> web.StreamResponse:
    return await request.app[WATCHED].news.stream(request)


async def _match(request: web.Request) -> web.StreamResponse:
    match = request.app[WATCHED].matches.get(request.match_info["match"])
    if match is None:  # its server may not be heard yet: the page asks again
        raise BusyError("there is no such match now")
    return await match.news.stream(request)


async def _step(request: web.Request) -> web.Response:
    """An earlier step."""
    found = request.match_info
    return web.json_response(await request.app[WATCHED].drawing(found["match"], int(found["step"])))

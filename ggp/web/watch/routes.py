"""What the watch room answers: its pages, what goes on, drawings of earlier steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from aiohttp import web

from ggp.web.shell import page
from ggp.web.watch.source import LiveMatches

MATCHES = web.AppKey("matches", LiveMatches)


def add_routes(app: web.Application, addresses: Iterable[str]) -> None:
    """Add the room to the application. Raises GdlError where an address is none."""
    app[MATCHES] = LiveMatches(addresses)
    app.cleanup_ctx.append(_follow)
    app.router.add_get("/watch", _page)
    app.router.add_get("/watch/events", _list)
    app.router.add_get("/watch/{match}", _page)
    app.router.add_get("/watch/{match}/events", _events)
    app.router.add_get("/watch/{match}/steps/{number:[0-9]{1,6}}", _step)


async def _follow(app: web.Application) -> AsyncIterator[None]:
    app[MATCHES].open()
    yield
    await app[MATCHES].close()


async def _page(request: web.Request) -> web.Response:
    key = request.match_info.get("match", "")
    return page(request, "Watch", "watch.js", ("board.css", "play.css", "replay.css"), match=key)


async def _list(request: web.Request) -> web.StreamResponse:
    return await request.app[MATCHES].news.stream(request)


async def _events(request: web.Request) -> web.StreamResponse:
    match = request.app[MATCHES].get(request.match_info["match"])
    match.open()
    return await match.news.stream(request)


async def _step(request: web.Request) -> web.Response:
    match = request.app[MATCHES].get(request.match_info["match"])
    return web.json_response({"svg": await match.drawing(int(request.match_info["number"]))})

"""A port on which a program that is no server tells of its matches: ``GET /events``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler

from gdl.errors import GdlError
from ggp.events.feed import Feed
from ggp.protocol.http_error import HttpError
from ggp.server.clients.visitors import Visitors

HOST = "127.0.0.1"
PATH = "/events"
GOODBYE_SECONDS = 0.3
"""How long readers have for the last events."""


@asynccontextmanager
async def told_on(feed: Feed, port: int | None) -> AsyncIterator[int]:
    """While this is open, a feed is told on a port of this computer, to this computer only; None for no port,
    0 for a free one. Gives the port. Raises GdlError if it is taken."""
    if port is None:
        yield 0
        return
    app = web.Application()
    app.router.add_get(PATH, reader_of(feed, Visitors(HOST)))
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port)
        try:
            await site.start()
        except OSError as error:
            raise GdlError(
                f"cannot listen on {HOST}:{port}: {error.strerror}", remedy="choose another port; 0 takes any"
            ) from None
        yield int(runner.addresses[0][1])
        if feed.watched:
            await asyncio.sleep(GOODBYE_SECONDS)
    finally:
        await runner.cleanup()


def reader_of(feed: Feed, visitors: Visitors) -> Handler:
    """What answers ``GET /events``."""

    async def read(request: web.Request) -> web.StreamResponse:
        try:
            visitors.check_message(request.headers)
            visitors.check_page(request.headers)
        except HttpError as error:
            return web.Response(status=error.status, text=f"error: {error}\n")
        if feed.full:
            return web.Response(status=503, text="error: too many are watching\n")
        return await feed.events.stream(request)

    return read

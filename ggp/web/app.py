"""The application behind ``ggp web``: the access checks, the static files, and the routes of every page."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from ggp.processes.budget import WorkBudget
from ggp.protocol.listener import Listener, fit_limits, raise_limit
from ggp.web.cached_lists import KNOWN, Names
from ggp.web.gate import HEADERS, PAGES, SETTINGS, STREAMED, TOKENS, Tokens, WebSettings, gate
from ggp.web.overseer import keep_warm, oversee
from ggp.web.play.routes import TABLES
from ggp.web.rooms import BUDGET, rooms
from ggp.web.visits import HELD, HeldBodies, Visit, visit_of

_OWN_FILES = 64
"""Open files of the server itself: its fork servers and the files it reads."""
_FILES_PER_PROCESS = 4
STATIC = Path(__file__).parent / "static"


def make_app(settings: WebSettings) -> web.Application:
    """The whole application. Raises GdlError if the settings are invalid."""
    app = web.Application(middlewares=[gate(settings)])
    app[SETTINGS] = settings
    app[TOKENS] = Tokens()
    app[STREAMED] = set()
    app[HELD] = HeldBodies()
    app[BUDGET] = WorkBudget(settings.processes, settings.memory)
    app.on_response_prepare.append(_streams)
    app[PAGES] = set()
    app[KNOWN] = Names()
    app.router.add_static("/static/", STATIC)
    for room in rooms().values():
        room.add_routes(app)
    return app


async def _streams(request: web.Request, reply: web.StreamResponse) -> None:
    """Mark the connection of an endless reply, which may be closed to make room for others."""
    visit = visit_of(request)
    if visit is not None and reply.content_length is None and not isinstance(reply, web.FileResponse):
        visit.waits = False


async def serve(
    settings: WebSettings, ready: Callable[[int, str], object], table: dict[str, Any] | None = None
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        ready: called with the port and the path of the first page, once the server listens.
        table: a table to open, as for :meth:`ggp.web.play.tables.OpenTables.open`; it is the first page then.

    Raises:
        GdlError: the address cannot be used, too few files may be open, or the table cannot be opened.
    """
    own = _OWN_FILES + _FILES_PER_PROCESS * settings.processes
    limits = fit_limits(settings.limits, raise_limit(), own, "these pages")
    app = make_app(settings)
    app.cleanup_ctx.extend((keep_warm, oversee))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    listener = Listener(limits)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        except NotImplementedError:  # Windows: KeyboardInterrupt does it
            break
    try:
        server = runner.server
        assert server is not None
        await listener.open(settings.host, settings.port, lambda: Visit(server, listener, HEADERS))
        page = "/" if table is None else f"/play/{(await app[TABLES].open(table)).id}"
        ready(listener.port, page)
        await stop.wait()
    finally:
        listener.close()
        await runner.cleanup()

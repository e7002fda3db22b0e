"""The application behind ``ggp web``: the gate, the static files, and the routes of every room."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from ggp.web import shell
from ggp.web.api import routes as api
from ggp.web.boards import routes as boards
from ggp.web.dashboard import routes as dashboard
from ggp.web.gate import PAGES, TOKENS, Tokens, gate
from ggp.web.names import KNOWN, Names
from ggp.web.play import routes as play
from ggp.web.puzzles import routes as puzzles
from ggp.web.replay import routes as replay
from ggp.web.rules import routes as rules
from ggp.web.settings import WebSettings
from ggp.web.styles import routes as styles
from ggp.web.warmth import keep_warm
from ggp.web.watch import routes as watch

SETTINGS = web.AppKey("settings", WebSettings)
MAX_BODY = 2 * 1024 * 1024
"""Bytes of a request's body."""
STATIC = Path(__file__).parent / "static"


def make_app(settings: WebSettings) -> web.Application:
    """The whole application. Raises GdlError if the settings cannot be."""
    app = web.Application(middlewares=[gate(settings)], client_max_size=MAX_BODY)
    app[SETTINGS] = settings
    app[TOKENS] = Tokens()
    app[PAGES] = set()
    app[KNOWN] = Names()
    shell.add_page(app, "/", _start)
    play.add_routes(app, settings)
    watch.add_routes(app, settings)
    replay.add_routes(app, settings)
    dashboard.add_routes(app)
    puzzles.add_routes(app)
    api.add_routes(app)
    rules.add_routes(app)
    styles.add_routes(app, settings)
    app.router.add_static("/static/", STATIC)
    boards.add_routes(app)
    return app


async def _start(request: web.Request) -> web.Response:
    return shell.page(request, "kaskade", "start.js", rooms=shell.ROOMS)


async def serve(
    settings: WebSettings, ready: Callable[[int, str], object], table: dict[str, Any] | None = None
) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        ready: called with the port and the path of the first page, once it listens.
        table: a table to begin with, as :meth:`ggp.web.play.tables.OpenTables.open` takes it: the first page.

    Raises:
        GdlError: the address cannot be listened on, or the table cannot be.
    """
    app = make_app(settings)
    app.cleanup_ctx.append(keep_warm)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        except NotImplementedError:  # Windows: KeyboardInterrupt does it
            break
    try:
        site = web.TCPSite(runner, settings.host, settings.port, shutdown_timeout=1.0)
        try:
            await site.start()
        except OSError as error:
            raise GdlError(
                f"cannot listen on {settings.host}:{settings.port}: {error.strerror}",
                remedy="choose another --port; 0 takes a free one",
            ) from None
        page = "/" if table is None else f"/play/{(await app[play.TABLES].open(table)).id}"
        ready(int(runner.addresses[0][1]), page)
        await stop.wait()
    finally:
        await runner.cleanup()

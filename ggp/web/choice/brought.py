"""``POST /choice``: what a person brings, a dropped file or a pasted text, becomes cards to choose from."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from gdl.errors import GdlError
from ggp.processes.workers import Workers, WorkKind
from ggp.web.gate import TOKEN_HEADER
from ggp.web.overseer import BUDGET
from ggp.web.visits import json_object

WORK = WorkKind("ggp.web.choice.brought_process", "this file", most=3, seconds=60.0, longest=48 * 1024 * 1024)
WORKERS = web.AppKey("brought_workers", Workers)
MOST_CHARACTERS = 2_000_000
"""Of a file in base64."""


def add_routes(app: web.Application) -> None:
    """Add the route, and end its processes with the application."""
    app.router.add_post("/choice", _bring)
    app.cleanup_ctx.append(_workers)


async def _workers(app: web.Application) -> AsyncIterator[None]:
    app[WORKERS] = workers = Workers(WORK, app[BUDGET])
    yield
    await workers.close()


async def _bring(request: web.Request) -> web.Response:
    told = await json_object(request)
    name, data = told.get("name", ""), told.get("data", "")
    if not isinstance(name, str) or len(name) > 500:
        raise GdlError("name is no file's name of at most 500 characters")
    if not isinstance(data, str) or len(data) > MOST_CHARACTERS:
        raise GdlError(f"data is no text of at most {MOST_CHARACTERS:,} characters")
    work_request = {"do": "read", "name": name, "data": data}
    answer = await request.app[WORKERS].ask(request.headers[TOKEN_HEADER], work_request, instead=True)
    return web.json_response({"what": answer["what"], "cards": answer["cards"]})

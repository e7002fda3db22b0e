"""``POST /choice``: cards for an uploaded file or a pasted text."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from gdl.json_schema import text
from ggp.processes.workers import Workers, WorkKind
from ggp.web.gate import TOKEN_HEADER
from ggp.web.overseer import BUDGET
from ggp.web.visits import fields, json_object

WORK = WorkKind("ggp.web.choice.brought_process", "this file", most=3, seconds=60.0, longest=48 * 1024 * 1024)
WORKERS = web.AppKey("brought_workers", Workers)
MOST_CHARACTERS = 2_000_000
"""Longest base64 text of an uploaded file."""


def add_routes(app: web.Application) -> None:
    """Add the route, and end its processes with the application."""
    app.router.add_post("/choice", _bring)
    app.cleanup_ctx.append(_workers)


async def _workers(app: web.Application) -> AsyncIterator[None]:
    app[WORKERS] = workers = Workers(WORK, app[BUDGET])
    yield
    await workers.close()


async def _bring(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(500), data=text(MOST_CHARACTERS)))
    work_request = {"do": "read", "name": "", "data": "", **body}
    answer = await request.app[WORKERS].ask(request.headers[TOKEN_HEADER], work_request, instead=True)
    return web.json_response({name: answer[name] for name in ("what", "cards", "faults")})

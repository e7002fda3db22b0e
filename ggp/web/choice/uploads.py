"""``POST /choice``: cards for an uploaded file or a pasted text."""

from __future__ import annotations

from functools import partial

from aiohttp import web

from gdl.json_schema import text
from ggp.processes.workers import Workers, WorkKind
from ggp.web.gate import TOKEN_HEADER
from ggp.web.rooms import add_owner
from ggp.web.visits import fields, json_object

WORK = WorkKind("ggp.web.choice.upload_process", "this file", most=3, seconds=60.0, longest=48 * 1024 * 1024)
WORKERS = web.AppKey("upload_workers", Workers)
MOST_CHARACTERS = 2_000_000
"""Longest base64 text of an uploaded file."""


def add_routes(app: web.Application) -> None:
    """Add the route and its processes."""
    app.router.add_post("/choice", _bring)
    add_owner(app, WORKERS, partial(Workers, WORK))


async def _bring(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(500), data=text(MOST_CHARACTERS)))
    work_request = {"do": "read", "name": "", "data": "", **body}
    answer = await request.app[WORKERS].ask(request.headers[TOKEN_HEADER], work_request, instead=True)
    return web.json_response({name: answer[name] for name in ("what", "cards", "faults")})

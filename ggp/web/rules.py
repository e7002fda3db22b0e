"""The routes of the rules page: the page itself, the bundled games, and jobs on the page's rules."""

from __future__ import annotations

import asyncio
from functools import partial

from aiohttp import web

from gdl.json_schema import Schema, text, whole
from ggp.answers.catalogue import MOST_CHARACTERS
from ggp.game import Game
from ggp.processes.workers import GivenUpError, Workers, WorkKind
from ggp.rule_files import installed_place
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import TOKEN_HEADER
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, page
from ggp.web.visits import fields, json_object

WORK = WorkKind("ggp.web.rules_process", "work on these rules", most=8, seconds=30.0)
WORKERS = web.AppKey("rules_workers", Workers)
JOBS: dict[str, dict[str, Schema]] = {
    "check": {},
    "rehearse": {},
    "rewrite": {"to": text(1000)},
    "scramble": {"seed": whole()},
    "count": {},
    "draw": {"of": text(1000)},
    "show": {"seed": whole(), "steps": whole()},
}
"""The jobs. Each has the schemas of its arguments, apart from the text."""


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    add_owner(app, WORKERS, partial(Workers, WORK))
    add_page(app, "/rules", _page)
    app.router.add_get("/rules/games/{name}", _text)
    app.router.add_post("/rules/{job}", _work)


async def _page(request: web.Request) -> web.Response:
    games = await request.app[KNOWN].games.get()
    return page(request, "Rules", "rules.js", ("board.css", "rules.css"), games=games)


async def _text(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    place = installed_place(name)
    if place is None:
        raise web.HTTPNotFound(reason="there is no such game")
    return web.json_response({"text": (await asyncio.to_thread(Game.load, place)).text})


async def _work(request: web.Request) -> web.Response:
    """Run a job on the rules of a page. Each page has one process, and a new check cancels the one before."""
    job = request.match_info["job"]
    if job not in JOBS:
        raise web.HTTPNotFound(reason="there is no such job")
    body = json_object(request, {**fields(text=text(MOST_CHARACTERS), **JOBS[job]), "required": ["text"]})
    work_request = {"do": job, **body}
    # The drawing next to the text has a process of its own, so that it delays no other job.
    key = request.headers[TOKEN_HEADER] + (" show" if job == "show" else "")
    newest = job in ("check", "show")
    try:
        answer = await request.app[WORKERS].ask(key, work_request, instead=newest)
    except GivenUpError:
        if not newest:
            raise
        return web.json_response({"given_up": True})
    return web.json_response(answer)


ROOM = PageRoom(add_routes, "/rules", "Write", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

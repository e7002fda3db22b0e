"""``GET /games/NAME/state.svg?state=...&moves=...``: the drawing of a state of an installed game. Each
recently drawn game has a process of its own."""

from __future__ import annotations

from functools import partial

from aiohttp import web

from ggp.boards.svg.markup import drawing_policy
from ggp.processes.workers import Workers, WorkKind
from ggp.web.cached_lists import KNOWN
from ggp.web.rooms import PageRoom, add_owner

WORK = WorkKind("ggp.web.drawing_process", "drawing", most=4, seconds=10.0)


WORKERS = web.AppKey("board_workers", Workers)


def add_routes(app: web.Application) -> None:
    """Add the route and its processes."""
    app.router.add_get("/games/{name}/state.svg", _state)
    add_owner(app, WORKERS, partial(Workers, WORK))


async def _state(request: web.Request) -> web.Response:
    """The drawing of the initial state, or of ``state`` (propositions), after each ``moves`` (one move per
    role, or per role with a choice). The parameter ``moves`` may be repeated."""
    name = request.match_info["name"]
    if name not in await request.app[KNOWN].games.get():
        raise web.HTTPNotFound(reason="there is no such game")
    query = request.query
    steps = {"do": "draw", "state": query.get("state", ""), "steps": query.getall("moves", [])}
    answer = await request.app[WORKERS].ask(name, steps, arguments=(name,))
    # The policy allows the drawing's own stylesheet and nothing else.
    return web.Response(
        text=answer["svg"],
        content_type="image/svg+xml",
        headers={"Content-Security-Policy": drawing_policy(), "Cache-Control": "max-age=60"},
    )


ROOM = PageRoom(add_routes, processes=(WORK.module,))
"""An entry point of ``kaskade.rooms``."""

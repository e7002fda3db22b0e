"""What the room of puzzles answers: its page, what comes along, searches and their news, drawings."""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web

from gdl.errors import GdlError
from ggp.answers.source import checked_source
from ggp.boards.svg.stylesheet import drawing_policy
from ggp.web.bodies import json_object
from ggp.web.names import KNOWN
from ggp.web.overseer import BUDGET
from ggp.web.puzzles.puzzles import LONGEST, Puzzles
from ggp.web.shell import add_page, page

PUZZLES = web.AppKey("puzzles", Puzzles)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    app.cleanup_ctx.append(_puzzles)
    add_page(app, "/puzzles", _page)
    add_page(app, "/puzzles/{id}", _page)
    app.router.add_get("/puzzles/{id}/events", _events)
    app.router.add_get("/puzzles/{id}/steps/{step:[0-9]{1,6}}", _step)
    app.router.add_post("/puzzles", _begin)
    app.router.add_post("/puzzles/{id}/stop", _stop)


async def _puzzles(app: web.Application) -> AsyncIterator[None]:
    app[PUZZLES] = puzzles = Puzzles(app[BUDGET])
    yield
    await puzzles.close()


async def _page(request: web.Request) -> web.Response:
    key = request.match_info.get("id", "")
    found = request.app[PUZZLES].get(key) if key else None
    return page(
        request,
        "Puzzles" if found is None else found.name,
        "puzzles.js",
        ("board.css", "puzzles.css"),
        puzzle=key,
        seconds=0.0 if found is None else found.seconds,
        puzzles=await request.app[KNOWN].puzzles.get(),
        solvers=await request.app[KNOWN].solvers.get(),
    )


async def _begin(request: web.Request) -> web.Response:
    told = await json_object(request)
    source = checked_source(told)
    seconds, solver = told.get("seconds", 20.0), told.get("solver", "")
    if type(seconds) not in (int, float) or not 0.1 <= seconds <= LONGEST:
        raise GdlError(f"seconds is no number from 0.1 to {LONGEST:g}")
    if not isinstance(solver, str) or len(solver) > 100:
        raise GdlError("solver is no name")
    name = str(told["game"]) if source["game"] else "Your rules"
    puzzle = request.app[PUZZLES].begin(source, name, float(seconds), solver, 0)
    return web.json_response({"puzzle": puzzle.id, "page": f"/puzzles/{puzzle.id}"})


async def _stop(request: web.Request) -> web.Response:
    await request.app[PUZZLES].stop(request.match_info["id"])
    return web.json_response({})


async def _events(request: web.Request) -> web.StreamResponse:
    return await request.app[PUZZLES].get(request.match_info["id"]).news.stream(request)


async def _step(request: web.Request) -> web.Response:
    drawing = await request.app[PUZZLES].draw(request.match_info["id"], int(request.match_info["step"]))
    headers = {"Content-Security-Policy": drawing_policy(), "Cache-Control": "no-store"}
    return web.Response(text=drawing, content_type="image/svg+xml", headers=headers)

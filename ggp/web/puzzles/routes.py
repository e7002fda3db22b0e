"""The puzzle pages: games of one role are solved live, and their lines are played on the board."""

from __future__ import annotations

from aiohttp import web

from gdl.json_schema import text
from gdl.visible import visible
from ggp.answers.catalogue import SOURCE, checked_source
from ggp.answers.operations import OPERATIONS
from ggp.boards.svg.markup import drawing_policy
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.workers import WorkKind
from ggp.web.cached_lists import KNOWN
from ggp.web.jobs import Jobs
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, page
from ggp.web.visits import fields, json_object

NEED = WorkNeed(memory=384 * 1024**2)
WORK = WorkKind("ggp.web.puzzles.puzzle_process", "solving", most=8, seconds=30.0, need=NEED)
AT_ONCE = 4
"""Puzzles that are being solved at once; the other processes draw."""
_GRACE = 180.0
"""Extra seconds, because kernels may have to be compiled and the network built."""
MOST = 64
"""Puzzles in memory; the oldest finished one is dropped first."""
MOST_RULES = 16_000_000
"""Total characters of their rules; again the oldest finished puzzle is dropped first."""
_SOLVE = OPERATIONS["solve"].request["properties"]
ORDER = fields(**{name: _SOLVE[name] for name in (*SOURCE, "seconds", "solver")}, title=text(200))


def _jobs(budget: WorkBudget) -> Jobs:
    return Jobs(
        WORK,
        budget,
        "puzzle",
        at_once=AT_ONCE,
        most=MOST,
        size=lambda job: len(job.request["rules"]),
        most_size=MOST_RULES,
    )


PUZZLES = web.AppKey("puzzles", Jobs)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    add_owner(app, PUZZLES, _jobs)
    add_page(app, "/puzzles", _page)
    add_page(app, "/puzzles/{id}", _page)
    app.router.add_get("/puzzles/{id}/events", _events)
    app.router.add_get("/puzzles/{id}/steps/{step:[0-9]{1,6}}", _step)
    app.router.add_post("/puzzles", _begin)
    app.router.add_post("/puzzles/{id}/stop", _stop)


async def _page(request: web.Request) -> web.Response:
    key = request.match_info.get("id", "")
    if not key:
        all_cards = await request.app[KNOWN].cards.get()
        cards = [card for card in all_cards if len(card["roles"]) < 2]
        styles = ("board.css", "cards.css")
        kinds = ("puzzle", "level", "packing")
        return page(request, "Puzzles", "choose.js", styles, cards=cards, players=(), names=(), kinds=kinds)
    job = request.app[PUZZLES].get(key)
    name, rules, seconds = (job.request[field] for field in ("name", "rules", "seconds"))
    styles = ("board.css", "puzzles.css")
    cards = await request.app[KNOWN].cards.get()
    card = next((card for card in cards if card["name"] == name), None)
    title = name if card is None else card["title"]
    source = {"game": "" if card is None else name, "rules": rules, "title": title}
    return page(request, title, "puzzles.js", styles, puzzle=key, seconds=seconds, source=source)


async def _begin(request: web.Request) -> web.Response:
    body = json_object(request, ORDER)
    source = checked_source(body)
    name = body["game"] if source["game"] else visible(body.get("title") or "Your rules")
    seconds = float(body.get("seconds", 20.0))
    order = {"do": "solve", **source, "name": name, "seconds": seconds, "solver": body.get("solver", "")}
    first = {"seconds": 0.0, "states": 0, "moves": []}
    job = request.app[PUZZLES].begin({**order, "seed": 0}, first, seconds + _GRACE)
    return web.json_response({"puzzle": job.id, "page": f"/puzzles/{job.id}"})


async def _stop(request: web.Request) -> web.Response:
    puzzles = request.app[PUZZLES]
    await puzzles.stop(puzzles.get(request.match_info["id"]))
    return web.json_response({})


async def _events(request: web.Request) -> web.StreamResponse:
    return await request.app[PUZZLES].get(request.match_info["id"]).news.stream(request)


async def _step(request: web.Request) -> web.Response:
    """The drawing of a state along the best line."""
    puzzles, step = request.app[PUZZLES], int(request.match_info["step"])
    job = puzzles.get(request.match_info["id"])
    answer = await puzzles.ask(job, {**job.request, "do": "draw", "moves": job.known["moves"], "step": step})
    headers = {"Content-Security-Policy": drawing_policy(), "Cache-Control": "no-store"}
    return web.Response(text=answer["svg"], content_type="image/svg+xml", headers=headers)


ROOM = PageRoom(add_routes, "/puzzles", "Puzzles", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

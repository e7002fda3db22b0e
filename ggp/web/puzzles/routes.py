"""The puzzle pages: games of one role are solved live, and their lines are played on the board; packing
puzzles are solved, and their pieces shown in space."""

from __future__ import annotations

import re

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import text
from gdl.visible import visible
from ggp.answers.catalogue import MOST_UPLOADED, SOURCE, checked_source, packing_files, uploaded
from ggp.answers.operations import OPERATIONS
from ggp.boards.svg.markup import drawing_policy, source_hash
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
PACKING = WorkKind(WORK.module, "packing", most=2, seconds=200.0, longest=64 * 1024 * 1024, need=NEED)
SECONDS = 30.0
"""Time limit of a search for solutions."""
MOST_PACKINGS = 16
"""Packings in memory; the oldest finished one is dropped first."""
MOST_DRAWN = 64_000_000
"""Total characters of their pages; again the oldest finished packing is dropped first."""
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_SOLVE = OPERATIONS["solve"].request["properties"]
ORDER = fields(**{name: _SOLVE[name] for name in (*SOURCE, "seconds", "solver")}, title=text(200))


PUZZLES, PACKINGS = web.AppKey("puzzles", Jobs), web.AppKey("packings", Jobs)


def _puzzles(budget: WorkBudget) -> Jobs:
    return Jobs(
        WORK,
        budget,
        "puzzle",
        at_once=AT_ONCE,
        most=MOST,
        size=lambda job: len(job.request["rules"]),
        most_size=MOST_RULES,
    )


def _packings(budget: WorkBudget) -> Jobs:
    return Jobs(
        PACKING,
        budget,
        "packing puzzle",
        at_once=PACKING.most,
        most=MOST_PACKINGS,
        size=lambda job: len(job.known.get("page", "")),
        most_size=MOST_DRAWN,
        silent=("page",),
    )


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    add_owner(app, PUZZLES, _puzzles)
    add_owner(app, PACKINGS, _packings)
    add_page(app, "/puzzles", _page)
    add_page(app, "/puzzles/draw", _draw)
    add_page(app, "/puzzles/{id}", _page)
    app.router.add_get("/puzzles/{id}/events", _events)
    app.router.add_get("/puzzles/{id}/steps/{step:[0-9]{1,6}}", _step)
    app.router.add_post("/puzzles", _begin)
    app.router.add_post("/puzzles/{id}/stop", _stop)
    add_page(app, "/packings/{id}", _packing)
    app.router.add_get("/packings/{id}/events", _events)
    app.router.add_get("/packings/{id}/space.html", _space)
    app.router.add_post("/packings", _pack)


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
    sheets = ("board.css", "replay.css", "puzzles.css")
    cards = await request.app[KNOWN].cards.get()
    card = next((card for card in cards if card["name"] == name), None)
    title = name if card is None else card["title"]
    source = {"game": "" if card is None else name, "rules": rules, "title": title}
    return page(request, title, "puzzles.js", sheets, puzzle=key, seconds=seconds, source=source)


async def _draw(request: web.Request) -> web.Response:
    """The editor of levels."""
    return page(request, "Draw a level", "level_editor.js", ("board.css", "level_editor.css"))


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
    jobs = request.app[PACKINGS if request.path.startswith("/packings/") else PUZZLES]
    return await jobs.get(request.match_info["id"]).news.stream(request)


async def _step(request: web.Request) -> web.Response:
    """The drawing of a state along the best line."""
    puzzles, step = request.app[PUZZLES], int(request.match_info["step"])
    job = puzzles.get(request.match_info["id"])
    answer = await puzzles.ask(job, {**job.request, "do": "draw", "moves": job.known["moves"], "step": step})
    headers = {"Content-Security-Policy": drawing_policy(), "Cache-Control": "no-store"}
    return web.Response(text=answer["svg"], content_type="image/svg+xml", headers=headers)


async def _packing(request: web.Request) -> web.Response:
    key = request.match_info["id"]
    request.app[PACKINGS].get(key)
    return page(request, "Packing puzzle", "packing.js", ("puzzles.css",), packing=key, seconds=SECONDS)


async def _pack(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(200), data=text(MOST_UPLOADED)))
    name, data = body.get("name", ""), body.get("data", "")
    if bool(name) == bool(data):
        raise GdlError("name a packing puzzle, or bring its data", remedy='{"name": "soma.packing"}')
    if name and name not in [path.name for path in packing_files()]:
        raise GdlError(f"there is no packing puzzle {visible(name[:80])!r}")
    uploaded(data)  # data that is not base64 is refused here
    order = {"do": "pack", "name": name, "data": data, "seconds": SECONDS}
    first = {"solutions": 0, "share": 0.0, "seconds": 0.0}
    return web.json_response(
        {"page": f"/packings/{request.app[PACKINGS].begin(order, first, PACKING.seconds).id}"}
    )


async def _space(request: web.Request) -> web.Response:
    """The page of the pieces, for a frame. Its policy allows only its own scripts and styles."""
    text = request.app[PACKINGS].get(request.match_info["id"]).known.get("page", "")
    if not text:
        raise GdlError("there is no solution to draw")
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, inside in _INLINE.findall(text):
        allowed[kind].append(source_hash(inside))
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {' '.join(allowed['script'])}; "
        f"style-src {' '.join(allowed['style'])}; img-src data:; frame-ancestors 'self'"
    )
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return web.Response(text=text, content_type="text/html", headers=headers)


ROOM = PageRoom(add_routes, "/puzzles", "Puzzles", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

"""The routes of packing puzzles: a search, its events, and the page of the pieces."""

from __future__ import annotations

import base64
import binascii
import re
from hashlib import sha256

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import text
from gdl.visible import visible
from ggp.answers.catalogue import MOST_UPLOADED, packing_files
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.workers import WorkKind
from ggp.web.jobs import Jobs
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, page
from ggp.web.visits import fields, json_object

WORK = WorkKind(
    "ggp.web.puzzles.puzzle_process",
    "packing",
    most=2,
    seconds=200.0,
    longest=64 * 1024 * 1024,
    need=WorkNeed(memory=384 * 1024**2),
)
SECONDS = 30.0
"""Time limit of a search for solutions."""
MOST = 16
"""Packings in memory; the oldest finished one is dropped first."""
MOST_DRAWN = 64_000_000
"""Total characters of their pages; again the oldest finished packing is dropped first."""
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def _jobs(budget: WorkBudget) -> Jobs:
    return Jobs(
        WORK,
        budget,
        "packing puzzle",
        at_once=WORK.most,
        most=MOST,
        size=lambda job: len(job.known.get("page", "")),
        most_size=MOST_DRAWN,
        silent=("page",),
    )


_PACKINGS = web.AppKey("packings", Jobs)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    add_owner(app, _PACKINGS, _jobs)
    add_page(app, "/packings/{id}", _page)
    app.router.add_get("/packings/{id}/events", _events)
    app.router.add_get("/packings/{id}/space.html", _space)
    app.router.add_post("/packings", _begin)


async def _page(request: web.Request) -> web.Response:
    key = request.match_info["id"]
    request.app[_PACKINGS].get(key)
    return page(request, "Packing puzzle", "packing.js", ("puzzles.css",), packing=key, seconds=SECONDS)


async def _events(request: web.Request) -> web.StreamResponse:
    return await request.app[_PACKINGS].get(request.match_info["id"]).news.stream(request)


async def _begin(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(200), data=text(MOST_UPLOADED)))
    name, data = body.get("name", ""), body.get("data", "")
    if bool(name) == bool(data):
        raise GdlError("name a packing puzzle, or bring its data", remedy='{"name": "soma.packing"}')
    if name and name not in [path.name for path in packing_files()]:
        raise GdlError(f"there is no packing puzzle {visible(name[:80])!r}")
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise GdlError("data must be base64") from None
    order = {"do": "pack", "name": name, "data": data, "seconds": SECONDS}
    first = {"solutions": 0, "share": 0.0, "seconds": 0.0}
    return web.json_response(
        {"page": f"/packings/{request.app[_PACKINGS].begin(order, first, WORK.seconds).id}"}
    )


async def _space(request: web.Request) -> web.Response:
    """The page of the pieces, for a frame. Its policy allows only its own scripts and styles."""
    text = request.app[_PACKINGS].get(request.match_info["id"]).known.get("page", "")
    if not text:
        raise GdlError("there is no solution to draw")
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, inside in _INLINE.findall(text):
        allowed[kind].append(f"'sha256-{base64.b64encode(sha256(inside.encode()).digest()).decode()}'")
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {' '.join(allowed['script'])}; "
        f"style-src {' '.join(allowed['style'])}; img-src data:; frame-ancestors 'self'"
    )
    headers = {"Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return web.Response(text=text, content_type="text/html", headers=headers)


ROOM = PageRoom(add_routes, processes=(WORK.module,))
"""An entry point of ``kaskade.rooms``."""

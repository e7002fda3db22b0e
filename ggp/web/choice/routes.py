"""The start page, ``GET /cards/NAME.svg``, the picture of a card, which is drawn once and cached, and
``POST /choice``: cards for an uploaded file or a pasted text."""

from __future__ import annotations

import re
from functools import partial

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import FLAG, text
from gdl.visible import without_folders
from ggp.answers.catalogue import MOST_UPLOADED
from ggp.boards.svg.markup import source_hash
from ggp.processes.workers import Workers, WorkKind
from ggp.web.cached_lists import KNOWN, CachedDrawings
from ggp.web.gate import TOKEN_HEADER
from ggp.web.play.routes import TABLES
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, page
from ggp.web.visits import fields, json_object

WORK = WorkKind("ggp.web.choice.card_process", "drawing a card", most=1, seconds=60.0)
UPLOADS = WorkKind(WORK.module, "this file", most=3, seconds=60.0, longest=48 * 1024 * 1024)
MOST_STEPS = 30
"""Moves of a recorded playthrough that the start page shows."""
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


PICTURES = web.AppKey("pictures", CachedDrawings)
READERS = web.AppKey("upload_workers", Workers)


async def _picture(request: web.Request) -> web.Response:
    name, number = request.match_info["name"], request.query.get("step", "")
    if not any(card["name"] == name for card in await request.app[KNOWN].cards.get()):
        raise web.HTTPNotFound(reason="there is no such card")
    step = int(number) if number.isascii() and number.isdigit() and len(number) < 3 else -1
    step = min(step, MOST_STEPS)
    drawing = (await request.app[PICTURES].get((name, step), {"name": name, "step": step}))["svg"]
    if not drawing:
        raise GdlError(f"there is no picture of {name}")
    styles = " ".join(map(source_hash, _STYLE.findall(drawing))) or "'none'"
    return web.Response(
        text=drawing,
        content_type="image/svg+xml",
        headers={
            "Content-Security-Policy": f"default-src 'none'; style-src {styles}",
            "Cache-Control": "max-age=3600",
        },
    )


def add_routes(app: web.Application) -> None:
    """Add the start page, the pictures of cards and uploads to the application, after the tables."""
    add_page(app, "/", _page)
    app.router.add_get("/cards/{name}.svg", _picture)
    add_owner(app, PICTURES, partial(CachedDrawings, WORK))
    app.router.add_post("/choice", _bring)
    add_owner(app, READERS, partial(Workers, UPLOADS))


async def _bring(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(500), data=text(MOST_UPLOADED), check=FLAG))
    work_request = {"do": "read", "name": "", "data": "", **body}
    check = body.get("check", False)
    key = request.headers[TOKEN_HEADER] + " check" * check
    try:
        answer = await request.app[READERS].ask(key, work_request, instead=not check)
    except GdlError as error:
        if not check:
            raise
        answer = {"what": "", "cards": [], "faults": [without_folders(str(error))]}
    return web.json_response({name: answer[name] for name in ("what", "cards", "faults")})


async def _page(request: web.Request) -> web.Response:
    cards = await request.app[KNOWN].cards.get()
    shown = next((card for card in cards if card["name"] == "connectfour"), cards[0])
    return page(
        request,
        "Any game, by its rules alone",
        "start.js",
        ("board.css", "cards.css", "start.css"),
        shown=shown,
        games=sum(card["kind"] not in ("level", "packing") for card in cards),
        puzzles=sum(card["kind"] in ("puzzle", "level", "packing") for card in cards),
        players=request.app[TABLES].players,
    )


ROOM = PageRoom(add_routes, processes=(WORK.module,))
"""An entry point of ``kaskade.rooms``."""

"""The start page, ``GET /cards/NAME.svg``, the picture of a card, which is drawn once and cached, and
``POST /choice``: cards for an uploaded file or a pasted text."""

from __future__ import annotations

import asyncio
import base64
import re
import time
from functools import partial
from hashlib import sha256

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import text
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import TOKEN_HEADER
from ggp.web.play.routes import TABLES
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, page
from ggp.web.visits import fields, json_object

WORK = WorkKind("ggp.web.choice.card_process", "drawing a card", most=1, seconds=60.0)
UPLOADS = WorkKind(
    "ggp.web.choice.upload_process", "this file", most=3, seconds=60.0, longest=48 * 1024 * 1024
)
MOST_CHARACTERS = 2_000_000
"""Longest base64 text of an uploaded file."""
MOST_STEPS = 30
"""Moves of a recorded playthrough that the start page shows."""
_AGAIN_SECONDS = 60.0
"""Seconds before a picture that could not be drawn is tried again."""
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


class Pictures:
    """Draws pictures one after the other and caches them. To be used within one event loop."""

    def __init__(self, budget: WorkBudget) -> None:
        self._workers = Workers(WORK, budget)
        self.close = self._workers.close
        self._lock = asyncio.Lock()
        self._drawn: dict[tuple[str, int], str] = {}
        self._failed: dict[tuple[str, int], float] = {}

    async def picture(self, name: str, step: int) -> str:
        """The picture of the bundled card ``name``. For a game it shows the state after ``step`` moves, or
        the usual state if ``step`` is -1. Raises BusyError, and GdlError if it cannot be drawn."""
        key = name, step
        async with self._lock:
            if key not in self._drawn and time.monotonic() >= self._failed.get(key, 0.0):
                try:
                    answer = await self._workers.ask("cards", {"do": "draw", "name": name, "step": step})
                    self._drawn[key] = answer["svg"]
                except BusyError:
                    raise
                except GdlError:
                    self._failed[key] = time.monotonic() + _AGAIN_SECONDS
        if not self._drawn.get(key):
            raise GdlError(f"there is no picture of {name}")
        return self._drawn[key]


PICTURES = web.AppKey("pictures", Pictures)
READERS = web.AppKey("upload_workers", Workers)


async def _picture(request: web.Request) -> web.Response:
    name, number = request.match_info["name"], request.query.get("step", "")
    if not any(card["name"] == name for card in await request.app[KNOWN].cards.get()):
        raise web.HTTPNotFound(reason="there is no such card")
    step = int(number) if number.isascii() and number.isdigit() and len(number) < 3 else -1
    drawing = await request.app[PICTURES].picture(name, min(step, MOST_STEPS))
    digests = [
        f"'sha256-{base64.b64encode(sha256(style.encode()).digest()).decode()}'"
        for style in _STYLE.findall(drawing)
    ]
    styles = " ".join(digests) or "'none'"
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
    add_owner(app, PICTURES, Pictures)
    app.router.add_post("/choice", _bring)
    add_owner(app, READERS, partial(Workers, UPLOADS))


async def _bring(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(500), data=text(MOST_CHARACTERS)))
    work_request = {"do": "read", "name": "", "data": "", **body}
    answer = await request.app[READERS].ask(request.headers[TOKEN_HEADER], work_request, instead=True)
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


ROOM = PageRoom(add_routes, processes=(WORK.module, UPLOADS.module))
"""An entry point of ``kaskade.rooms``."""

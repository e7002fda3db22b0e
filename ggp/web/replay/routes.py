"""What the replay room answers: its page, the list of records, matches, drawings, and matches as files."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from gdl.visible import visible
from ggp.game import installed_games
from ggp.web.replay.export import MOST_BYTES, html_file
from ggp.web.replay.match_log import MAX_BYTES
from ggp.web.replay.readers import Readers
from ggp.web.replay.sources import RecordSources
from ggp.web.shell import page

READERS = web.AppKey("readers", Readers)
SOURCES = web.AppKey("sources", RecordSources)
MOST_AT_ONCE = 16
"""Drawings in one reply."""


def add_routes(app: web.Application, sources: RecordSources) -> None:
    """Add the room to the application."""
    app[SOURCES] = sources
    app.cleanup_ctx.append(_readers)
    app.router.add_get("/replay", _page)
    app.router.add_get("/replay/list", _list)
    app.router.add_get("/replay/matches", _matches)
    app.router.add_get("/replay/match", _match)
    app.router.add_get("/replay/steps", _steps)
    app.router.add_get("/replay/file", _file)
    app.router.add_post("/replay/records", _keep)


async def _readers(app: web.Application) -> AsyncIterator[None]:
    app[READERS] = readers = Readers()
    yield
    await readers.close()


async def _page(request: web.Request) -> web.Response:
    games = [path.stem for path in installed_games()]
    return page(request, "Replay", "replay.js", ("board.css", "play.css", "replay.css"), games=games)


async def _list(request: web.Request) -> web.Response:
    """The files of the folder."""
    return web.json_response({"records": request.app[SOURCES].listed()})


async def _keep(request: web.Request) -> web.Response:
    """Take a dropped record."""
    parts: list[bytes] = []
    size = 0
    async for part in request.content.iter_any():
        size += len(part)
        if size > MAX_BYTES:
            raise GdlError(f"the record is longer than {MAX_BYTES // 1024**2} MB")
        parts.append(part)
    name = visible(request.query.get("name", "record")[:100])
    data = b"".join(parts)
    address = request.app[SOURCES].keep(name, data)
    told = await _asked(request, address, "open")
    return web.json_response({"source": address, **told})


async def _matches(request: web.Request) -> web.Response:
    """The matches in a file."""
    return web.json_response(await _asked(request, _source(request), "open"))


async def _match(request: web.Request) -> web.Response:
    """What is told of one match, and of its steps."""
    told = await _asked(request, _source(request), "match", **_which(request))
    return web.json_response(told)


async def _steps(request: web.Request) -> web.Response:
    """Drawings of some steps."""
    first, count = _number(request, "first"), _number(request, "count")
    if not 0 < count <= MOST_AT_ONCE:
        raise GdlError(f"count is no number from 1 to {MOST_AT_ONCE}")
    told = await _asked(request, _source(request), "draw", **_which(request), first=first, count=count)
    return web.json_response(told)


async def _file(request: web.Request) -> web.Response:
    """The whole match as one HTML file."""
    source, which = _source(request), _which(request)
    about = await _asked(request, source, "match", **which)
    count = len(about["steps"])
    drawings: list[str] = []
    for first in range(0, count, MOST_AT_ONCE):
        some = min(MOST_AT_ONCE, count - first)
        told = await _asked(request, source, "draw", **which, first=first, count=some)
        drawings += told["drawings"]
        if sum(map(len, drawings)) > MOST_BYTES:
            raise GdlError(f"the match is too long for one file: more than {MOST_BYTES // 1024**2} MB")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", about["id"]) or "match"
    return web.Response(
        text=html_file(about, drawings),
        content_type="text/html",
        headers={"Content-Disposition": f'attachment; filename="{name}.html"'},
    )


async def _asked(request: web.Request, address: str, do: str, **fields: object) -> dict[str, Any]:
    source = request.app[SOURCES].find(address)
    return await request.app[READERS].ask(address, source, do, **fields)


def _source(request: web.Request) -> str:
    return request.query.get("source", "")


def _which(request: web.Request) -> dict[str, Any]:
    game = request.query.get("game", "")
    if game and game not in {path.stem for path in installed_games()}:
        raise GdlError(f"there is no game {visible(game)[:100]!r}")
    return {"index": _number(request, "match"), "game": game}


def _number(request: web.Request, name: str) -> int:
    text = request.query.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise GdlError(f"{name} is no number")
    return int(text)

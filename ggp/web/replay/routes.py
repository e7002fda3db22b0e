"""The routes of the replay pages: the list, matches and their drawings, uploads and downloads."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from ggp.processes.workers import Workers, WorkKind
from ggp.web.gate import SETTINGS, STREAMED
from ggp.web.replay.recorded import MOST_BROUGHT_BYTES
from ggp.web.replay.shelf import RecordCards, Shelf, ShelvedRecord
from ggp.web.rooms import PageRoom, add_owner
from ggp.web.shell import add_page, page
from ggp.web.visits import body_chunks

WORK = WorkKind("ggp.web.replay.replay_process", "replay", most=6, seconds=60.0, longest=64 * 1024 * 1024)
WORKERS = web.AppKey("replay_workers", Workers)
SHELF = web.AppKey("shelf", Shelf)
CARDS = web.AppKey("record_cards", RecordCards)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    app[SHELF] = Shelf(app[SETTINGS].records)
    app.cleanup_ctx.append(_close)
    add_owner(app, WORKERS, partial(Workers, WORK))
    add_owner(app, CARDS, RecordCards)
    add_page(app, "/replay", _page)
    app.router.add_get("/replay/stamp", _stamp)
    app.router.add_get("/replay/story", _story)
    app.router.add_get("/replay/compared", _compared)
    app.router.add_get("/replay/frames", _frames)
    app.router.add_get("/replay/sights", _sights)
    app.router.add_get("/replay/card", _card)
    app.router.add_get("/replay/export", _export)
    app.router.add_post("/replay/records", _bring)
    app[STREAMED].add(_bring)


async def _close(app: web.Application) -> AsyncIterator[None]:
    yield
    app[SHELF].close()


async def _page(request: web.Request) -> web.Response:
    shelf = request.app[SHELF]
    query = dict(request.query)
    asked = any(name in query for name in ("file", "brought", "tournament"))
    files = [] if asked else await shelf.listed.get()
    return page(
        request,
        "Replay",
        "replay.js",
        ("board.css", "cards.css", "replay.css", "hidden.css"),
        asked=asked,
        query=request.query_string if asked else "",
        files=files,
        folder=shelf.folder is not None,
    )


async def _stamp(request: web.Request) -> web.Response:
    """A number that changes when the record does; 0 for a record that cannot change."""
    return web.json_response({"stamp": request.app[SHELF].stamp(request.query)})


async def _story(request: web.Request) -> web.Response:
    return web.json_response((await _work(request, {"do": "story"}))["story"])


async def _compared(request: web.Request) -> web.Response:
    answer = await _work(request, {"do": "compared"})
    return web.json_response({name: answer[name] for name in ("doubts", "words")})


async def _frames(request: web.Request) -> web.Response:
    first, count = (_count(request, name) for name in ("first", "count"))
    answer = await _work(request, {"do": "frames", "first": first, "count": count})
    return web.json_response({"frames": answer["frames"]})


async def _sights(request: web.Request) -> web.Response:
    """A role's knowledge in each step."""
    answer = await _work(request, {"do": "sights", "role": _count(request, "role")})
    return web.json_response({"sights": answer["sights"]})


async def _card(request: web.Request) -> web.Response:
    found, number = await _found(request)
    card = await request.app[CARDS].card(found, number)
    return web.Response(body=card, content_type="application/json")


async def _export(request: web.Request) -> web.Response:
    story = (await _work(request, {"do": "story"}))["story"]
    if "matches" in story:
        raise GdlError("this file has several matches", remedy="choose one")
    answer = await _work(request, {"do": "page"})
    name = re.sub(r"[^\w.-]+", "_", story["name"])[:80] or "match"
    return web.Response(
        text=answer["page"],
        content_type="text/html",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.html"',
            "Content-Security-Policy": "sandbox; default-src 'none'",
        },
    )


async def _bring(request: web.Request) -> web.Response:
    """Store a record uploaded by a page if it can be read. Only a process with limits parses it."""

    async def check(record: ShelvedRecord) -> None:
        await _ask(request, record, {"do": "story", "match": 0})

    name = await request.app[SHELF].take(body_chunks(request, MOST_BROUGHT_BYTES), check)
    return web.json_response({"page": f"/replay?brought={name}"})


async def _work(request: web.Request, work_request: dict[str, Any]) -> dict[str, Any]:
    found, number = await _found(request)
    return await _ask(request, found, {**work_request, "match": number})


async def _found(request: web.Request) -> tuple[ShelvedRecord, int]:
    """The record that a request names, and the number of the match; 0 for the whole file."""
    found = await asyncio.to_thread(request.app[SHELF].find, request.query)
    return found, found.number or (_count(request, "match") if "match" in request.query else 0)


async def _ask(request: web.Request, found: ShelvedRecord, work_request: dict[str, Any]) -> dict[str, Any]:
    # Each file has one process, also while the file grows.
    key = hashlib.sha256(f"{found.path} {found.number}".encode("utf-8", "surrogateescape")).hexdigest()
    if work_request["do"] == "compared":  # takes seconds, so drawings must not wait for it
        key = f"{key} compared"
    return await request.app[WORKERS].ask(key, {**work_request, "kind": found.kind, "path": str(found.path)})


def _count(request: web.Request, name: str) -> int:
    text = request.query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise GdlError(f"{name} must be a number from 0 to 999999")
    return int(text)


ROOM = PageRoom(add_routes, "/replay", "Replay", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

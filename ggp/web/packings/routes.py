"""The routes of packing puzzles: a search, its events, and the page of the pieces."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator
from hashlib import sha256

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import text
from gdl.visible import visible, without_folders
from ggp.answers.catalogue import packing_files
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.choice.brought import MOST_CHARACTERS
from ggp.web.overseer import BUDGET
from ggp.web.shell import Broadcast, add_page, encode, page
from ggp.web.visits import fields, json_object

WORK = WorkKind(
    "ggp.web.packings.packing_process",
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


class _PackingSearches:
    """All packings of a server, within a budget."""

    def __init__(self, budget: WorkBudget) -> None:
        self._searches: OrderedDict[str, _PackingNews] = OrderedDict()
        self._workers = Workers(WORK, budget)

    def get(self, key: str) -> _PackingNews:
        """The packing with this id. Raises GdlError if there is none."""
        found = self._searches.get(key)
        if found is None:
            raise GdlError("this packing is no longer in memory", remedy="have it solved again")
        return found

    def begin(self, name: str, data: str) -> str:
        """Start solving a bundled or uploaded puzzle and return its id. Raises BusyError."""
        if sum(not one.done for one in self._searches.values()) >= WORK.most:
            raise BusyError(f"{WORK.most} packing puzzles are being solved", remedy="wait for one")
        key = secrets.token_urlsafe(12)
        self._searches[key] = one = _PackingNews(name)
        searches = self._searches
        while len(searches) > MOST or sum(len(other.page) for other in searches.values()) > MOST_DRAWN:
            del searches[next(key for key, other in searches.items() if other.done)]
        request = {"do": "solve", "name": name, "data": data, "seconds": SECONDS}
        one.task = asyncio.create_task(self._solve(key, one, request))
        return key

    async def _solve(self, key: str, one: _PackingNews, request: JsonMessage) -> None:
        def on_progress(message: JsonMessage) -> None:
            if message.pop("kind") == "progress":
                one.tell("progress", message)

        try:
            answer = await self._workers.ask(key, request, news=on_progress)
        except GdlError as error:
            one.tell("failed", {"error": without_folders(str(error))})
        else:
            one.page = answer["page"]
            names = ("title", "solutions", "complete", "seconds", "apart")
            one.tell("solved", {name: answer[name] for name in names})
        finally:
            one.done = True

    async def close(self) -> None:
        """End all."""
        tasks = [one.task for one in self._searches.values() if one.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._workers.close()


class _PackingNews:
    """The events of one search, and the page of its pieces when it is finished."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.page = ""
        self.done = False
        self.task: asyncio.Task[None] | None = None
        self._latest: tuple[str, JsonMessage] = ("progress", {"solutions": 0, "share": 0.0, "seconds": 0.0})
        self.news = Broadcast(lambda: [encode(*self._latest)])

    def tell(self, event: str, data: JsonMessage) -> None:
        """Send an event to all readers. Later readers get the latest one on connecting."""
        self._latest = event, data
        self.news.send(event, data)


_PACKINGS = web.AppKey("packings", _PackingSearches)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    app.cleanup_ctx.append(_packings)
    add_page(app, "/packings/{id}", _page)
    app.router.add_get("/packings/{id}/events", _events)
    app.router.add_get("/packings/{id}/space.html", _space)
    app.router.add_post("/packings", _begin)


async def _packings(app: web.Application) -> AsyncIterator[None]:
    app[_PACKINGS] = packings = _PackingSearches(app[BUDGET])
    yield
    await packings.close()


async def _page(request: web.Request) -> web.Response:
    key = request.match_info["id"]
    request.app[_PACKINGS].get(key)
    return page(request, "Packing puzzle", "packing.js", ("puzzles.css",), packing=key, seconds=SECONDS)


async def _events(request: web.Request) -> web.StreamResponse:
    return await request.app[_PACKINGS].get(request.match_info["id"]).news.stream(request)


async def _begin(request: web.Request) -> web.Response:
    body = json_object(request, fields(name=text(200), data=text(MOST_CHARACTERS)))
    name, data = body.get("name", ""), body.get("data", "")
    if bool(name) == bool(data):
        raise GdlError("name a packing puzzle, or bring its data", remedy='{"name": "soma.packing"}')
    if name and name not in [path.name for path in packing_files()]:
        raise GdlError(f"there is no packing puzzle {visible(name[:80])!r}")
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise GdlError("data must be base64") from None
    return web.json_response({"page": f"/packings/{request.app[_PACKINGS].begin(name, data)}"})


async def _space(request: web.Request) -> web.Response:
    """The page of the pieces, for a frame. Its policy allows only its own scripts and styles."""
    text = request.app[_PACKINGS].get(request.match_info["id"]).page
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

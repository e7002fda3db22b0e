"""The puzzle pages: games of one role are solved live, and their lines are played on the board."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import number, text
from gdl.visible import visible, without_folders
from ggp.answers.catalogue import SOURCE, checked_source
from ggp.boards.svg.markup import drawing_policy
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.kept import KNOWN
from ggp.web.overseer import BUDGET
from ggp.web.shell import Broadcast, add_page, encode, page
from ggp.web.visits import fields, json_object

NEED = WorkNeed(memory=384 * 1024**2)
WORK = WorkKind("ggp.web.puzzle_process", "solving", most=8, seconds=30.0, group=True, need=NEED)
AT_ONCE = 4
"""Puzzles that are being solved at once; the other processes draw."""
LONGEST = 600.0
"""Seconds for a search."""
_GRACE = 180.0
"""Extra seconds, because kernels may have to be compiled and the network built."""
MOST = 64
"""Puzzles in memory; the oldest finished one is dropped first."""
MOST_RULES = 16_000_000
"""Total characters of their rules; again the oldest finished puzzle is dropped first."""
ORDER = fields(**SOURCE, seconds=number(0.1, LONGEST), solver=text(100), title=text(200))


class Puzzle:
    """One search.

    Attributes:
        id: random letters and digits that cannot be guessed.
        news: events with the progress and the result.
        moves: the best line so far.
        done: whether it is over.
    """

    def __init__(self, source: JsonMessage, name: str, seconds: float) -> None:
        self.id = secrets.token_urlsafe(12)
        self.source, self.name, self.seconds = source, name, seconds
        self.moves: list[str] = []
        self.done = False
        self.news = Broadcast(self._greeting)
        self.task: asyncio.Task[None] | None = None
        self._latest: tuple[str, JsonMessage] = ("progress", {"seconds": 0.0, "states": 0})

    def tell(self, event: str, data: JsonMessage) -> None:
        """Send an event to all readers. Later readers get the latest one on connecting."""
        self._latest = event, data
        self.news.send(event, data)

    def _greeting(self) -> list[bytes]:
        event, data = self._latest
        return [encode(event, data if event != "progress" else {**data, "moves": self.moves})]


class Puzzles:
    """All puzzles of a server, within a budget."""

    def __init__(self, budget: WorkBudget) -> None:
        self._puzzles: OrderedDict[str, Puzzle] = OrderedDict()
        self._workers = Workers(WORK, budget)

    def get(self, key: str) -> Puzzle:
        """The puzzle with this id. Raises GdlError if there is none."""
        puzzle = self._puzzles.get(key)
        if puzzle is None:
            raise GdlError("this puzzle is no longer in memory", remedy="solve it again")
        return puzzle

    def begin(self, source: JsonMessage, name: str, seconds: float, solver: str, seed: int) -> Puzzle:
        """Start solving a puzzle. Raises BusyError if too many are being solved."""
        if sum(not puzzle.done for puzzle in self._puzzles.values()) >= AT_ONCE:
            raise BusyError(f"{AT_ONCE} puzzles are being solved", remedy="stop one, or wait for it")
        puzzle = Puzzle(source, name, seconds)
        self._puzzles[puzzle.id] = puzzle
        puzzles = self._puzzles
        while len(puzzles) > MOST or sum(len(one.source["rules"]) for one in puzzles.values()) > MOST_RULES:
            oldest = next(key for key, one in self._puzzles.items() if one.done)
            del self._puzzles[oldest]
        request = {"do": "solve", **source, "seconds": seconds, "solver": solver, "seed": seed}
        puzzle.task = asyncio.create_task(self._solve(puzzle, request))
        return puzzle

    async def _solve(self, puzzle: Puzzle, request: JsonMessage) -> None:
        def on_message(message: JsonMessage) -> None:
            if message.pop("kind") == "progress":
                puzzle.moves = message.get("moves", puzzle.moves)
                puzzle.tell("progress", message)

        try:
            answer = await self._workers.ask(
                puzzle.id, request, news=on_message, seconds=puzzle.seconds + _GRACE
            )
        except GdlError as error:
            puzzle.tell("failed", {"error": without_folders(str(error)), "moves": puzzle.moves})
        else:
            puzzle.moves = answer["moves"]
            puzzle.tell("solved", {name: value for name, value in answer.items() if name != "kind"})
        finally:
            puzzle.done = True

    async def stop(self, key: str) -> None:
        """End a search; its best line stays available. Raises GdlError if there is no such puzzle."""
        puzzle = self.get(key)
        if not puzzle.done:
            await self._workers.end(key)

    async def draw(self, key: str, step: int) -> str:
        """A drawing of a state along the best line. Raises GdlError."""
        puzzle = self.get(key)
        name = key if puzzle.done else f"{key}-drawing"  # the solving process has no time to draw
        request = {"do": "draw", **puzzle.source, "moves": puzzle.moves, "step": step}
        return str((await self._workers.ask(name, request))["svg"])

    async def close(self) -> None:
        """End all."""
        tasks = [puzzle.task for puzzle in self._puzzles.values() if puzzle.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._workers.close()


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
    if not key:
        all_cards = await request.app[KNOWN].cards.get()
        cards = [card for card in all_cards if len(card["roles"]) < 2]
        styles = ("board.css", "cards.css")
        kinds = ("puzzle", "level", "packing")
        return page(request, "Puzzles", "choose.js", styles, cards=cards, players=(), names=(), kinds=kinds)
    found = request.app[PUZZLES].get(key)
    styles = ("board.css", "puzzles.css")
    cards = await request.app[KNOWN].cards.get()
    card = next((card for card in cards if card["name"] == found.name), None)
    title = found.name if card is None else card["title"]
    source = {"game": "" if card is None else found.name, "rules": found.source["rules"], "title": title}
    return page(request, title, "puzzles.js", styles, puzzle=key, seconds=found.seconds, source=source)


async def _begin(request: web.Request) -> web.Response:
    body = json_object(request, ORDER)
    source = checked_source(body)
    name = body["game"] if source["game"] else visible(body.get("title") or "Your rules")
    seconds, solver = float(body.get("seconds", 20.0)), body.get("solver", "")
    puzzle = request.app[PUZZLES].begin(source, name, seconds, solver, 0)
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

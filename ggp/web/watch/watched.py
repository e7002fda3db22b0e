"""The room where people watch: what is known of each match, its board, who looks on, and the room's pages."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.http_error import BusyError
from ggp.web.gate import WebSettings
from ggp.web.overseer import BUDGET
from ggp.web.play.routes import TABLES
from ggp.web.shell import Broadcast, add_page, encode, page
from ggp.web.watch.follow import (
    LONGEST_TEXT,
    MOST_ANSWERS,
    EventFollower,
    read_answer,
    read_match,
    read_moves,
    read_search,
    size_of,
)

WORK = WorkKind("ggp.web.drawing_process", "drawing a watched match", most=6, seconds=30.0)
MOST_MATCHES = 200
"""More are forgotten, those that have ended first."""
MATCH_BYTES = 4 * 1024 * 1024
"""What is kept of one match; one that is larger is followed no further."""
SERVER_BYTES = 32 * 1024 * 1024
"""What is kept of one server; the oldest of its matches are forgotten."""
MOST_SERVERS = 32
LONGEST_ID = 500
"""Characters of a match's id by which it is known again."""
HERE = "this page's tables"
"""The server of a match that is played at a table of our own."""


class WatchedMatch:
    """One match.

    Attributes:
        key: what a page knows it by.
        server: its server's address.
        news: ``match`` (all there is to know) and what follows: ``board``, ``search``, ``answer``, ``ended``.
        board: the newest drawing with its step; empty until there is one.
        size: about how many bytes are kept of it.
        too_large: whether it has more to tell than is kept; it is followed no further then.
    """

    def __init__(self, key: str, server: str, told: dict[str, Any]) -> None:
        self.key = key
        self.server = server
        self.size = 0
        self.too_large = False
        self.news = Broadcast(self._greeting)
        self.board: dict[str, Any] = {}
        self.retell(told)

    def retell(self, told: dict[str, Any]) -> None:
        """Its server tells all once more: the match begins, or the server is heard again."""
        self.told, self.why = told, ""
        self.news.send("match", self._known())

    @property
    def moves(self) -> list[list[str]]:
        """The joint moves so far."""
        moves: list[list[str]] = self.told["moves"]
        return moves

    def measure(self) -> None:
        """See anew how much is kept of it."""
        self.size = size_of(self.told) + (len(encode("board", self.board)) if self.board else 0)

    def line(self) -> dict[str, Any]:
        """What stands in the list of matches."""
        who = self.told["role"] or " - ".join(self.told["players"])
        return {
            "key": self.key,
            "server": self.server,
            "match": self.told["match"],
            "role": who[:LONGEST_TEXT],
            "game": self.told.get("title") or self.told["game"],
            "steps": len(self.moves),
            "why": self.why,
        }

    def search(self, data: dict[str, Any]) -> None:
        """The player thinks."""
        self.told["search"] = data
        self.news.send("search", data)

    def answer(self, data: dict[str, Any]) -> None:
        """The player has answered."""
        self.told["answers"] = [*self.told["answers"][1 - MOST_ANSWERS :], data]
        self.news.send("answer", data)

    def end(self, why: str, goals: str) -> None:
        """It is over."""
        self.why = f"{why}{f': {goals}' if goals else ''}"[:200]
        self.news.send("ended", {"text": self.why})

    def show(self, board: dict[str, Any]) -> None:
        """There is a new drawing."""
        self.board = board
        self.news.send("board", board)

    def _greeting(self) -> list[bytes]:
        greeting = [encode("match", self._known())]
        if self.board:
            greeting.append(encode("board", self.board))
        if self.told["search"]:
            greeting.append(encode("search", self.told["search"]))
        if self.why:
            greeting.append(encode("ended", {"text": self.why}))
        return greeting

    def _known(self) -> dict[str, Any]:
        return {**self.line(), "clocks": self.told["clocks"], "answers": self.told["answers"]}


class Watched:
    """All servers that are watched, and their matches. ``addresses`` are as people write them; drawing stays
    within the budget.

    Raises GdlError for one that is none."""

    def __init__(self, addresses: Sequence[str], budget: WorkBudget) -> None:
        if len(addresses) > MOST_SERVERS:
            raise GdlError(f"more than {MOST_SERVERS} servers to watch")
        self.news = Broadcast(lambda: [encode("list", self.list())])
        self.matches: dict[str, WatchedMatch] = {}
        self._reached: dict[str, bool] = dict.fromkeys(addresses, False)
        self._followers = [EventFollower(url, self._hearer(url), self._reacher(url)) for url in self._reached]
        self._workers = Workers(WORK, budget)
        self._tasks: set[asyncio.Task[None]] = set()
        self._drawing: set[str] = set()

    def begin(self) -> None:
        """Begin to follow."""
        for follower in self._followers:
            self._do(follower.run())

    async def close(self) -> None:
        """Follow no more."""
        for task in self._tasks:
            task.cancel()
        await self._workers.close()

    def list(self) -> dict[str, Any]:
        """The servers and matches, the newest first."""
        return {
            "servers": [{"url": url, "reached": reached} for url, reached in self._reached.items()],
            "matches": [match.line() for match in reversed(self.matches.values())],
        }

    async def drawing(self, key: str, step: int) -> dict[str, Any]:
        """A step of a match, as a ``board`` event tells it. Raises GdlError where there is none."""
        match = self.matches.get(key)
        if match is None or step > len(match.moves):
            raise GdlError("there is no such step of a match now")
        request = {"do": "draw", "rules": match.told["rules"], "moves": match.moves, "step": step}
        answer = await self._workers.ask(key, request)
        return {name: value for name, value in answer.items() if name != "kind"}

    def hear_own(self, name: str, data: dict[str, Any]) -> None:
        """An event of a table of this server. It draws its own boards."""
        self._hear(HERE, name, data)

    def _hearer(self, url: str) -> Callable[[str, dict[str, Any]], None]:
        return lambda name, data: self._hear(url, name, data)

    def _reacher(self, url: str) -> Callable[[bool], None]:
        def reached(whether: bool) -> None:
            if self._reached[url] != whether:
                self._reached[url] = whether
                self.news.send("list", self.list())

        return reached

    def _hear(self, url: str, name: str, data: dict[str, Any]) -> None:
        """An event of a server. It is a stranger's: nothing in it is taken for granted."""
        what = f"{url} {str(data.get('match'))[:LONGEST_ID]}".encode("utf-8", "replace")
        key = hashlib.sha256(what).hexdigest()[:20]
        match = self.matches.get(key)
        if name == "match":
            self._keep(key, url, data)
        elif match is not None and name == "ended":
            match.end(str(data.get("why", "")), str(data.get("goals", "")))
            self.news.send("list", self.list())
        elif match is not None and not match.too_large:
            if name == "search":  # the most frequent, and only the newest is kept
                match.search(read_search(data))
                return
            if name == "step":
                match.told["moves"] = read_moves(data.get("moves"))
                if url != HERE:
                    self._draw(match)
                self.news.send("list", self.list())
            elif name == "board" and url == HERE:
                match.show(data)
            elif name == "answer":
                match.answer(read_answer(data))
            self._bound(match)

    def _keep(self, key: str, url: str, data: dict[str, Any]) -> None:
        """A match that is new, or of which all is told once more."""
        before = self.matches.pop(key, None)
        told = read_match(data)
        if told is None:
            return
        if before is None:
            match = WatchedMatch(key, url, told)
        else:
            match = before
            match.retell(told)
        while len(self.matches) >= MOST_MATCHES:
            ended = next((one for one, known in self.matches.items() if known.why), None)
            del self.matches[ended or next(iter(self.matches))]
        self.matches[key] = match
        self._bound(match)
        if url != HERE and not match.too_large:
            self._draw(match)
        self.news.send("list", self.list())

    def _bound(self, match: WatchedMatch) -> None:
        """Keep no more of a match, and of its server, than there is room for."""
        match.measure()
        match.too_large = match.size > MATCH_BYTES
        if match.too_large:
            match.told |= {"rules": "", "moves": [], "answers": [], "search": None}
            match.board = {}
            match.measure()
            match.end("it has more to tell than is kept of a match", "")
        others = [one for one in self.matches.values() if one.server == match.server]
        size = sum(one.size for one in others)
        for one in others:
            if size <= SERVER_BYTES or one is match:
                break
            size -= one.size
            del self.matches[one.key]

    def _draw(self, match: WatchedMatch) -> None:
        if match.key not in self._drawing:
            self._drawing.add(match.key)
            self._do(self._keep_drawing(match.key))

    async def _keep_drawing(self, key: str) -> None:
        """Draw the newest state of a match, until none is newer."""
        try:
            shown: object = None
            while (match := self.matches.get(key)) is not None and match.moves is not shown:
                shown = moves = match.moves
                request = {"do": "draw", "rules": match.told["rules"], "moves": moves}
                try:
                    answer = await self._workers.ask(key, request)
                    match.show({name: value for name, value in answer.items() if name != "kind"})
                    self._bound(match)
                except GdlError as error:
                    match.news.send("trouble", {"text": without_folders(str(error))})
        finally:
            self._drawing.discard(key)

    def _do(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


WATCHED = web.AppKey("watched", Watched)


def add_routes(app: web.Application, settings: WebSettings) -> None:
    """Add the room to the application, after that of the tables.

    Raises GdlError for an address that is none."""
    app[WATCHED] = Watched(settings.watch, app[BUDGET])
    app[TABLES].hear = app[WATCHED].hear_own
    app.cleanup_ctx.append(_follow)
    add_page(app, "/watch", _page)
    app.router.add_get("/watch/events", _list)
    app.router.add_get("/watch/{match}/events", _match)
    app.router.add_get("/watch/{match}/board", _board)
    app.router.add_get("/watch/{match}/steps/{step:[0-9]{1,6}}", _step)


async def _follow(app: web.Application) -> AsyncIterator[None]:
    app[WATCHED].begin()
    yield
    await app[WATCHED].close()


async def _page(request: web.Request) -> web.Response:
    match = request.query.get("match", "")[:100]
    return page(
        request, "Watch", "watch.js", ("board.css", "cards.css", "replay.css", "watch.css"), match=match
    )


async def _list(request: web.Request) -> web.StreamResponse:
    return await request.app[WATCHED].news.stream(request)


async def _match(request: web.Request) -> web.StreamResponse:
    match = request.app[WATCHED].matches.get(request.match_info["match"])
    if match is None:  # its server may not be heard yet: the page asks again
        raise BusyError("there is no such match now")
    return await match.news.stream(request)


async def _board(request: web.Request) -> web.Response:
    """The newest drawing of a match, as it is kept: nothing is drawn for it."""
    match = request.app[WATCHED].matches.get(request.match_info["match"])
    return web.json_response({"svg": "" if match is None else match.board.get("svg", "")})


async def _step(request: web.Request) -> web.Response:
    """An earlier step."""
    found = request.match_info
    return web.json_response(await request.app[WATCHED].drawing(found["match"], int(found["step"])))

"""The watched matches: the stored data of each match, its board, its readers, and the routes of the pages.

Follows the events of one player's server, which may be untrusted, and reconnects after every interruption.

Only the known fields of an event are stored, each cut to a fixed length. Other fields are dropped, so that
the limits in this module bound the memory of a match.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.log_lines import say
from ggp.processes.budget import WorkBudget
from ggp.processes.workers import Workers, WorkKind
from ggp.protocol.address import Address, parse_address
from ggp.protocol.asking import events
from ggp.protocol.event_source import read_events
from ggp.protocol.http_error import BusyError
from ggp.web.gate import SETTINGS
from ggp.web.play.routes import TABLES
from ggp.web.rooms import BUDGET, PageRoom
from ggp.web.shell import Broadcast, add_page, encode, page

LONGEST_RULES = 2 * 1024 * 1024
"""Characters."""
LONGEST_TEXT = 300
MOST_STEPS = 20_000
MOST_ROLES = 64
MOST_ANSWERS = 1000
"""Answers in memory; older ones are dropped."""
MOST_CANDIDATES = 32


def read_match(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a ``match`` event; None if its rules are missing or too long."""
    rules = data.get("rules")
    if not isinstance(rules, str) or len(rules) > LONGEST_RULES:
        return None
    answers = _list(data.get("answers"))[-MOST_ANSWERS:]
    return {
        "rules": rules,
        **{name: _text(data.get(name)) for name in ("match", "role", "name", "game", "title")},
        "players": [_text(name) for name in _list(data.get("players"))[:MOST_ROLES]],
        "clocks": [_number(clock) for clock in _list(data.get("clocks"))[:2]],
        "moves": read_moves(data.get("moves")),
        "answers": [read_answer(answer) for answer in answers if isinstance(answer, dict)],
        "search": read_search(search) if isinstance(search := data.get("search"), dict) and search else None,
    }


def read_moves(moves: object) -> list[list[str]]:
    """Joint moves as lists of texts; other values count as empty."""
    return [[_text(move) for move in _list(joint)[:MOST_ROLES]] for joint in _list(moves)[:MOST_STEPS]]


def read_search(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a ``search`` event."""
    candidates = []
    for one in _list(data.get("candidates"))[:MOST_CANDIDATES]:
        if isinstance(one, list) and len(one) == 3:
            candidates.append([_text(one[0]), _number(one[1]) or 0, _number(one[2])])
    return {
        "turn": _number(data.get("turn")),
        "note": _text(data.get("note")),
        "machine": _text(data.get("machine")),
        "expects": _number(data.get("expects")),
        "candidates": candidates,
    }


def read_answer(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an ``answer`` event."""
    texts = {name: _text(data.get(name)) for name in ("move", "note", "machine")}
    return {"turn": _number(data.get("turn")), **texts, "expects": _number(data.get("expects"))}


def size_of(match: Mapping[str, Any]) -> int:
    """The approximate size of a match in bytes."""
    steps = sum(64 + sum(map(len, joint)) for joint in match["moves"])
    answers = sum(256 + len(answer["move"]) + len(answer["note"]) for answer in match["answers"])
    return 4096 + len(match["rules"]) + steps + answers


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, list | dict) else str(value)[:LONGEST_TEXT]


def _number(value: object) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        return None
    return value


_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0
_SILENCE_SECONDS = 40.0
"""A server that is silent for this time has gone, because servers ping more often."""
_LONGEST_LINE = 8 * 1024 * 1024
_BYTES_PER_SECOND = 4 * 1024 * 1024
_LINES_PER_SECOND = 2000
_BURST_SECONDS = 4.0
"""A server may exceed the rates by this many seconds' worth of data, for example after a reconnection. Then
its data is read with pauses."""
Hear = Callable[[str, dict[str, Any]], None]
"""Receives an event's name and data."""


async def _follow_server(address: Address, hear: Hear, reached: Callable[[bool], None]) -> None:
    """Read the events of a server until cancelled; reconnect after every error.

    Args:
        address: its address.
        hear: receives each event.
        reached: called with True when the server is connected, with False when it is not.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            async with events(address, _SILENCE_SECONDS, _LONGEST_LINE) as lines:
                reached(True)
                pause = _FIRST_PAUSE
                async for name, data in read_events(_paced(lines)):
                    if isinstance(data, dict):
                        hear(name, data)
        except (OSError, TimeoutError, ValueError, GdlError) as error:
            say("debug", "not watched", server=str(address), error=str(error)[:200])
        reached(False)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def _paced(lines: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines no faster than the permitted rates, because each line costs the server time."""
    paid = time.monotonic()
    async for line in lines:
        now = time.monotonic()
        paid = max(paid, now) + max(len(line) / _BYTES_PER_SECOND, 1 / _LINES_PER_SECOND)
        if paid > now + _BURST_SECONDS:
            await asyncio.sleep(paid - now - _BURST_SECONDS)
        yield line


WORK = WorkKind("ggp.web.drawing_process", "drawing a watched match", most=6, seconds=30.0)
MOST_MATCHES = 200
"""Matches in memory; when there are more, ended ones are dropped first."""
MATCH_BYTES = 4 * 1024 * 1024
"""Largest size of a match in memory; a larger match is no longer followed."""
SERVER_BYTES = 32 * 1024 * 1024
"""Largest total size of a server's matches in memory; the oldest are dropped."""
_MOST_SERVERS = 32
_LONGEST_ID = 500
"""Characters of a match's id that identify it."""
HERE = "this page's tables"
"""The server's name for matches at our own tables."""


class WatchedMatch:
    """One match.

    Attributes:
        key: its id in the addresses of pages.
        server: its server's address.
        news: the event ``match`` with all data, then ``board``, ``search``, ``answer`` and ``ended``.
        board: the newest drawing with its step; empty until there is one.
        size: its approximate size in bytes.
        too_large: whether it exceeds the limit; then it is no longer followed.
    """

    def __init__(self, key: str, server: str, fields: dict[str, Any]) -> None:
        self.key = key
        self.server = server
        self.size = 0
        self.too_large = False
        self.news = Broadcast(self._greeting)
        self.board: dict[str, Any] = {}
        self.retell(fields)

    def retell(self, fields: dict[str, Any]) -> None:
        """Replace all data, because the match has begun or its server has reconnected."""
        self.fields, self.why = fields, ""
        self.news.send("match", self._snapshot())

    @property
    def moves(self) -> list[list[str]]:
        """The joint moves played."""
        moves: list[list[str]] = self.fields["moves"]
        return moves

    def measure(self) -> None:
        """Update ``size``."""
        self.size = size_of(self.fields) + (len(encode("board", self.board)) if self.board else 0)

    def line(self) -> dict[str, Any]:
        """The entry in the list of matches."""
        who = self.fields["role"] or " - ".join(self.fields["players"])
        return {
            "key": self.key,
            "server": self.server,
            "match": self.fields["match"],
            "role": who[:LONGEST_TEXT],
            "game": self.fields.get("title") or self.fields["game"],
            "steps": len(self.moves),
            "why": self.why,
        }

    def search(self, data: dict[str, Any]) -> None:
        """Store the player's search in progress."""
        self.fields["search"] = data
        self.news.send("search", data)

    def answer(self, data: dict[str, Any]) -> None:
        """Store an answer of the player."""
        self.fields["answers"] = [*self.fields["answers"][1 - MOST_ANSWERS :], data]
        self.news.send("answer", data)

    def end(self, why: str, goals: str) -> None:
        """Mark the match as over."""
        self.why = f"{why}{f': {goals}' if goals else ''}"[:200]
        self.news.send("ended", {"text": self.why})

    def show(self, board: dict[str, Any]) -> None:
        """Store a new drawing."""
        self.board = board
        self.news.send("board", board)

    def _greeting(self) -> list[bytes]:
        greeting = [encode("match", self._snapshot())]
        if self.board:
            greeting.append(encode("board", self.board))
        if self.fields["search"]:
            greeting.append(encode("search", self.fields["search"]))
        if self.why:
            greeting.append(encode("ended", {"text": self.why}))
        return greeting

    def _snapshot(self) -> dict[str, Any]:
        return {**self.line(), "clocks": self.fields["clocks"], "answers": self.fields["answers"]}


class Watched:
    """All watched servers and their matches. ``addresses`` are written as ``http://host:port``, and
    ``budget`` bounds the drawing processes.

    Raises GdlError for an invalid address, or if there are too many."""

    def __init__(self, addresses: Sequence[str], budget: WorkBudget) -> None:
        if len(addresses) > _MOST_SERVERS:
            raise GdlError(f"more than {_MOST_SERVERS} servers to watch")
        self.news = Broadcast(lambda: [encode("list", self.list())])
        self.matches: dict[str, WatchedMatch] = {}
        self._reached: dict[str, bool] = dict.fromkeys(addresses, False)
        self._servers = {url: parse_address(url) for url in self._reached}
        self._workers = Workers(WORK, budget)
        self._tasks: set[asyncio.Task[None]] = set()
        self._drawing: set[str] = set()

    def begin(self) -> None:
        """Start following the servers."""
        for url, address in self._servers.items():
            self._do(_follow_server(address, partial(self.hear, url), partial(self._note_reached, url)))

    async def close(self) -> None:
        """Stop following the servers."""
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
        """A step of a match, as the data of a ``board`` event. Raises GdlError if there is no such step."""
        match = self.matches.get(key)
        if match is None or step > len(match.moves):
            raise GdlError("there is no such step of a match now")
        request = {"do": "draw", "rules": match.fields["rules"], "moves": match.moves, "step": step}
        return await self._workers.ask(key, request)

    def _note_reached(self, url: str, reached: bool) -> None:
        if self._reached[url] != reached:
            self._reached[url] = reached
            self.news.send("list", self.list())

    def hear(self, url: str, name: str, data: dict[str, Any]) -> None:
        """Handle an event of a server. The event is untrusted, so every field is checked."""
        what = f"{url} {str(data.get('match'))[:_LONGEST_ID]}".encode("utf-8", "replace")
        key = hashlib.sha256(what).hexdigest()[:20]
        match = self.matches.get(key)
        if name == "match":
            self._keep(key, url, data)
        elif match is not None and name == "ended":
            match.end(str(data.get("why", "")), str(data.get("goals", "")))
            self.news.send("list", self.list())
        elif match is not None and not match.too_large:
            if name == "search":  # the most frequent event, and only the newest one is stored
                match.search(read_search(data))
                return
            if name == "step":
                match.fields["moves"] = read_moves(data.get("moves"))
                if url != HERE:
                    self._draw(match)
                self.news.send("list", self.list())
            elif name == "board" and url == HERE:
                match.show(data)
            elif name == "answer":
                match.answer(read_answer(data))
            self._bound(match)

    def _keep(self, key: str, url: str, data: dict[str, Any]) -> None:
        """Store a new match, or replace the data of one that is already stored."""
        before = self.matches.pop(key, None)
        fields = read_match(data)
        if fields is None:
            return
        if before is None:
            match = WatchedMatch(key, url, fields)
        else:
            match = before
            match.retell(fields)
        while len(self.matches) >= MOST_MATCHES:
            ended = next((one for one, other in self.matches.items() if other.why), None)
            del self.matches[ended or next(iter(self.matches))]
        self.matches[key] = match
        self._bound(match)
        if url != HERE and not match.too_large:
            self._draw(match)
        self.news.send("list", self.list())

    def _bound(self, match: WatchedMatch) -> None:
        """Enforce the memory limits of a match and of its server."""
        match.measure()
        match.too_large = match.size > MATCH_BYTES
        if match.too_large:
            match.fields |= {"rules": "", "moves": [], "answers": [], "search": None}
            match.board = {}
            match.measure()
            match.end("the match is too large to be followed", "")
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
                request = {"do": "draw", "rules": match.fields["rules"], "moves": moves}
                try:
                    match.show(await self._workers.ask(key, request))
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


def add_routes(app: web.Application) -> None:
    """Add the routes to the application, after those of the tables.

    Raises GdlError for an invalid address."""
    app[WATCHED] = Watched(app[SETTINGS].watch, app[BUDGET])
    app[TABLES].hear = partial(app[WATCHED].hear, HERE)  # tables draw their own boards
    app.cleanup_ctx.append(_follow)
    add_page(app, "/watch", _page)
    app.router.add_get("/watch/events", _matches)
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


async def _matches(request: web.Request) -> web.StreamResponse:
    return await request.app[WATCHED].news.stream(request)


async def _match(request: web.Request) -> web.StreamResponse:
    match = request.app[WATCHED].matches.get(request.match_info["match"])
    if match is None:  # its server may not be connected yet: the page asks again
        raise BusyError("there is no such match now")
    return await match.news.stream(request)


async def _board(request: web.Request) -> web.Response:
    """The newest stored drawing of a match; the request draws nothing."""
    match = request.app[WATCHED].matches.get(request.match_info["match"])
    return web.json_response({"svg": "" if match is None else match.board.get("svg", "")})


async def _step(request: web.Request) -> web.Response:
    """The drawing of an earlier step."""
    found = request.match_info
    return web.json_response(await request.app[WATCHED].drawing(found["match"], int(found["step"])))


ROOM = PageRoom(add_routes, "/watch", "Watch", (WORK.module,))
"""An entry point of ``kaskade.rooms``."""

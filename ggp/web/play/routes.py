"""The open tables of a server: their processes and events, their end when they have no readers, and the
routes of their pages."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from gdl.errors import GdlError
from gdl.json_schema import number, rows, text, whole
from gdl.visible import visible, without_folders
from ggp.answers.catalogue import SOURCE, checked_source
from ggp.processes.budget import Reservation, WorkBudget, WorkNeed
from ggp.processes.child import Child
from ggp.processes.parent import JsonMessage
from ggp.protocol.http_error import BusyError, HttpError
from ggp.web.cached_lists import KNOWN
from ggp.web.gate import SETTINGS
from ggp.web.play.company import FRIEND, LONGEST_NAME, OWNER, checked_name
from ggp.web.play.requests import LONGEST_CLOCK, LOOKS_ON, PLAYER, REQUESTS
from ggp.web.play.view import HUMAN, OUTSIDE
from ggp.web.replay.recorded import MOST_STATES
from ggp.web.rooms import BUDGET, PageRoom
from ggp.web.shell import Broadcast, add_page, attachment, encode, page
from ggp.web.visits import fields, json_object
from players.processes.limits import cores
from players.registry import NAMES

Hear = Callable[[str, dict[str, Any]], None]
"""Takes an event's name and data."""

_DRAWN = ("svg", "step", "roles", "over", "goals")
_TOLD = 100
"""Newest moves in the events for spectators."""


class _TableNews:
    """Makes public events from the messages of a table.

    They are the events of :class:`ggp.server.match_news.MatchNews`, and ``board``, because a table draws its
    own board.

    Args:
        name: the displayed name of the match. It does not give access to the table.
        playclock: seconds per move of our players.
        hear: receives the events; by default they are dropped.
    """

    def __init__(self, name: str, playclock: float, hear: Hear = lambda event, data: None) -> None:
        self.hear = hear
        self._match: dict[str, Any] = {"match": name, "role": "", "rules": "", "clocks": [0, playclock]}
        self._seats: object = None
        self._moves: list[object] = []
        self._over = False

    def says(self, kind: str, message: JsonMessage) -> None:
        """Handle a message of the table."""
        if kind == "rules":
            self._match["rules"] = message["text"]
        elif kind == "state":
            self._shows(message)
        elif kind == "search":
            self._tell("search", message)

    def closes(self) -> None:
        """Send ``ended`` when the table is closed during a match."""
        if self._seats is not None and not self._over:
            self._tell("ended", {"why": "the table is closed", "goals": ""})

    def _shows(self, state: JsonMessage) -> None:
        history = state["history"][: state["step"]]
        moves = [step["moves"] for step in history]
        answers = [_answer(turn, step) for turn, step in enumerate(history, 1)]
        before, self._moves = self._moves, moves
        goes_on = moves[: len(before)] == before and state["over"] >= self._over
        if self._seats != state["seats"] or not goes_on:
            self._seats = state["seats"]
            seats = zip(state["roles"], state["seats"], strict=True)
            players = [f"{role}: {seat}" for role, seat in seats]
            self._match |= {"game": state["game"], "title": state["title"], "players": players}
            self._match |= {"moves": moves, "answers": answers}
            self.hear("match", dict(self._match))
        elif moves != before:
            self._tell("step", {"moves": moves})
            for answer in answers[len(before) :]:
                self._tell("answer", answer)
        side_lines = [" ".join((one["name"], *map(" ".join, one["rows"]))) for one in state["beside"]]
        newest = [{"moves": step["moves"], "words": step["words"]} for step in history[-_TOLD:]]
        board = {name: state[name] for name in _DRAWN}
        self._tell("board", {**board, "beside": side_lines, "history": newest, "texts": {}})
        if state["over"] and not self._over:
            # Chance has no result.
            results = zip(state["roles"], state["goals"], strict=True)
            goals = ", ".join(f"{role} {goal}" for role, goal in results if goal is not None)
            self._tell("ended", {"why": "done", "goals": goals})
        self._over = state["over"]

    def _tell(self, event: str, data: Mapping[str, Any]) -> None:
        self.hear(event, {"match": self._match["match"], **data})


def _answer(turn: int, step: Mapping[str, Any]) -> dict[str, Any]:
    """The ``answer`` event of a turn: its moves in words, and the result that the first of our players
    expected."""
    notes = "; ".join(f"{role}: {note}" for role, note in step["notes"].items())
    move = "  ".join(filter(None, step["words"]))
    expects = next(iter(step["expects"].values()), None)
    return {"turn": turn, "move": move, "note": notes, "machine": "", "expects": expects}


MOST = 16
"""Most tables at the same time, including those that are being opened."""
NEED = WorkNeed(4, 384 * 1024**2)
"""The need of a table: its own process, and the processes that build and load its machines."""
_SEARCHER_MEMORY = 96 * 1024**2
"""The additional memory in bytes of each search process of a player."""
_WORKERS = re.compile(r"\bworkers=([0-9]{1,4})")
_LEFT_SECONDS = 60.0
"""A table without readers for this time is closed if a new one needs its place."""
UNSEEN_SECONDS = 10.0
"""The same time for a table that has never had readers, because pages read new tables at once, and for one
whose match is over."""
IDLE_SECONDS = 1800.0
"""A table without readers for this time is closed."""
GONE_SECONDS = 3.0
"""A person whose pages are all closed for this time is shown as away."""
KEPT_SECONDS = 120.0
"""The same time after which its seat is free."""
_OPEN_SECONDS = 60.0
MOST_ORDERS = 64
"""Most requests of a person that may wait at a table; further ones are refused."""
_MAX_LINE = 32 * 1024 * 1024


def _need_of(request: dict[str, Any]) -> WorkNeed:
    """The need of a table, with the search processes that the request or its players' names ask for."""
    searchers = 0
    for name in (*request.get("seats", ()), request.get("others", "")):
        named = max(map(int, _WORKERS.findall(name)), default=0)
        searchers += 0 if name in (HUMAN, FRIEND) else min(max(named, request.get("workers", 0)), cores())
    return WorkNeed(NEED.processes + searchers, NEED.memory + searchers * _SEARCHER_MEMORY)


@dataclass(eq=False)
class _Person:
    """A person with a key, by which it acts at a table. Who opens a table gets the first one.

    Attributes:
        number: the person's number in the table's process.
        greet: the first events for a page of a person; ``news`` are all others.
        name: what it is called; empty if it has not said so.
        pages: how many of its pages are open.
        left: when the last of them was closed, time.monotonic() seconds.
        key: random letters and digits that cannot be guessed.
    """

    number: int
    greet: Callable[[_Person], list[bytes]]
    name: str = ""
    pages: int = 0
    left: float = 0.0
    key: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    def __post_init__(self) -> None:
        self.news = Broadcast(lambda: self.greet(self))


class _OpenTable:
    """A table as the server sees it.

    Attributes:
        id: random letters and digits that cannot be guessed.
        owner: the person who has opened it.
        outside: the public events, for the page of watched matches.
        touched: the time of the last request, time.monotonic() seconds.
        over: why it has ended; empty while it is open.
        rules: the rules of its game as written (``text``), and how to play in their words (``how``).
    """

    def __init__(self, child: Child, outside: _TableNews, reservation: Reservation, name: str) -> None:
        self.outside = outside
        self.reservation = reservation
        self.id = secrets.token_urlsafe(12)
        self.touched = time.monotonic()
        self.over = ""
        self._child = child
        self._waiting: deque[int] = deque()
        """The persons whose requests wait."""
        self.rules = {"text": "", "how": ""}
        self._keeping: dict[tuple[str, bool], asyncio.Future[JsonMessage]] = {}
        self._states: dict[int, tuple[float, JsonMessage]] = {}
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._people: dict[str, _Person] = {}
        self._looker = _Person(OUTSIDE, self._greeting)
        """All who look on, as one person whose key is not given away."""
        self._count = 0
        self._told: list[object] = []
        self.owner = self._enter(name)
        child.on_message = self._on_message
        child.on_exit = self._gone
        reservation.pid = child.pid

    @property
    def page(self) -> str:
        """The path of its page with the owner's key, which browsers do not send because it follows ``#``."""
        return f"/play/{self.id}#{self.owner.key}"

    @property
    def readers(self) -> int:
        """The number of pages that read its events."""
        return sum(person.news.readers for person in self._everybody())

    def idle(self, seconds: float) -> bool:
        """Whether the table has no readers, and had no request in the last ``seconds``."""
        return not self.readers and time.monotonic() - self.touched > seconds

    @property
    def makes_room(self) -> bool:
        """Whether it may be closed if a new table needs its place."""
        was_read = any(person.news.was_read for person in self._everybody())
        waits = was_read and not self._state.get("over", False)
        return bool(self.over) or self.idle(_LEFT_SECONDS if waits else UNSEEN_SECONDS)

    async def opened(self, request: JsonMessage) -> None:
        """Open the table and wait for its first state. Raises GdlError if it cannot be opened."""
        self._child.send("open", **request)
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                await asyncio.shield(self._opened)
        except TimeoutError:
            raise GdlError("these rules took too long to set up", remedy="ggp validate says more") from None

    async def kept(self, form: str, key: str, over: bool) -> str:
        """The match up to now as the text of a file; with ``over`` the last one that is over, also if another
        one has begun. Raises GdlError if it cannot be saved, HttpError if a person without a key asks for it
        before the end."""
        if key not in self._people and not (over or self._state["over"]):
            raise HttpError(403, LOOKS_ON, "keep the match after its end")
        waiting = self._keeping.get((form, over))
        if waiting is None:
            self._order("keep", OUTSIDE, form=form, over=over)
            waiting = self._keeping[form, over] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                message = await asyncio.shield(waiting)
        except TimeoutError:
            raise GdlError("the table is busy", remedy="pause it, and try again") from None
        if "error" in message:
            raise GdlError(message["error"])
        return str(message["text"])

    def sit(self, role: str, name: str, key: str, players: Sequence[str]) -> str:
        """Take the free seat of a role, with the key of a person or as a new one. Returns the person's key.
        Raises GdlError if there is no such seat, or the name may not be used, as that of one of ``players``.
        """
        state = self._state
        at = state["roles"].index(role) if role in state["roles"] else -1
        if at < 0 or state["seats"][at] != HUMAN:
            raise GdlError(f"no person plays {visible(role[:100])!r} here")
        if state["persons"][at] is not None:
            raise GdlError(f"the seat of {role} is already taken", remedy="open a table of your own")
        person = self._people.get(key)
        if person is not None and "blind" in state and person.number in state["persons"]:
            raise GdlError("you have a seat, and see what its role sees", remedy="send a friend the address")
        others = [one.name for one in self._people.values() if one is not person]
        name = checked_name(name, [*others, *players])
        if person is None:
            sitting = {OWNER, *state["persons"]}  # people without a seat or an open page are forgotten
            people = (one for one in self._people.values() if one.pages or one.number in sitting)
            self._people = {one.key: one for one in people}
            person = self._enter(name)
        person.name = name
        self._order("sit", person.number, role=role, name=name)
        state["persons"][at] = person.number  # until the table's process says so; it decides
        self._tell_people()
        return person.key

    async def hear(self, request: web.Request, key: str) -> web.StreamResponse:
        """The events for the holder of a key, or for those who look on."""
        person = self._people.get(key, self._looker)
        person.pages += 1
        self._tell_people()
        try:
            return await person.news.stream(request)
        finally:
            person.pages -= 1
            person.left = time.monotonic()
            later = asyncio.get_running_loop().call_later
            later(GONE_SECONDS, self._tell_people)
            later(KEPT_SECONDS, self._miss, person)

    def request(self, do: str, fields: JsonMessage, key: str) -> None:
        """Send a person's request to the table. Raises HttpError if no person has this key, GdlError if the
        table has ended, BusyError if too many requests wait there."""
        person = self._people.get(key)
        if person is None:
            raise HttpError(403, LOOKS_ON, "take a free seat, or open a table of your own")
        self._order(do, person.number, **fields)

    async def close(self) -> None:
        """Close the table and end its process."""
        self.outside.closes()
        self._child.hang_up()
        await self._child.end(1.0)

    @property
    def _state(self) -> JsonMessage:
        """The state for those who look on."""
        return self._states[OUTSIDE][1]

    def _everybody(self) -> list[_Person]:
        return [self._looker, *self._people.values()]

    def _enter(self, name: str) -> _Person:
        """A new person."""
        person = _Person(self._count, self._greeting, name)
        self._count += 1
        self._people[person.key] = person
        return person

    def _order(self, do: str, number: int, **fields: object) -> None:
        if self.over:
            raise GdlError(f"this table has ended: {self.over}", remedy="open a new one")
        if self._waiting.count(number) >= MOST_ORDERS:
            raise BusyError(f"{MOST_ORDERS} requests wait at this table")
        self._waiting.append(number)
        self.touched = time.monotonic()
        self._child.send(do, **fields, person=number)

    def _miss(self, person: _Person) -> None:
        """Have the seats freed of a person who has been away for long."""
        away = not person.pages and time.monotonic() - person.left >= KEPT_SECONDS - 0.1
        if away and person.number in self._state["persons"]:
            with contextlib.suppress(GdlError, BusyError):
                self._order("left", person.number)

    def _seating(self, person: _Person) -> JsonMessage:
        """The event ``people`` for a person: its own roles, and for each role who plays it."""
        at, people = self._state["persons"], {one.number: one for one in self._people.values()}
        seats, now = [], time.monotonic()
        for seat, one in zip(self._state["seats"], map(people.get, at), strict=True):
            here = one is not None and (one.pages > 0 or now < one.left + GONE_SECONDS - 0.1)
            name = "" if one is None else one.name
            seats.append({"name": name, "here": here, "free": seat == HUMAN and one is None})
        you = [role for role, one in enumerate(at) if one == person.number]
        return {"you": you, "owner": person.number == OWNER, "seats": seats}

    def _tell_people(self) -> None:
        """Tell everybody who sits where and is there, if that has changed."""
        seating = [*self._state["persons"], self._seating(self._looker)]
        if seating != self._told:
            self._told = seating
            for person in self._everybody():
                person.news.send("people", self._seating(person))

    def _sees_as(self, person: _Person) -> int:
        """The number of those whose messages a person gets too: its own, or that of all who look on."""
        return person.number if person.number in self._state["persons"] else OUTSIDE

    def _greeting(self, person: _Person) -> list[bytes]:
        came, state = self._states.get(self._sees_as(person), self._states[OUTSIDE])
        state = {**state, "age": round(time.monotonic() - came, 1)}
        greeting = [encode("people", self._seating(person)), encode("state", state)]
        return [*greeting, encode("ended", {"text": self.over})] if self.over else greeting

    def _on_message(self, message: JsonMessage) -> None:
        kind = message.pop("kind")
        if kind == "refused":
            error = GdlError(message["error"])
            if not self._opened.done():
                self._opened.set_exception(error)
            self._ended(message["error"])
            return
        if kind == "took":
            if self._waiting:
                self._waiting.popleft()
            return
        if kind == "kept":
            waiting = self._keeping.pop((message["form"], message["over"]), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            return
        if kind == "rules":
            self.outside.says(kind, message)
            self.rules = {"text": str(message["text"]), "how": str(message["how"])}
            return
        to = message.pop("to", None)
        if to in (None, OUTSIDE):
            self.outside.says(kind, message)
        if kind == "state" and not message.get("looks"):
            if to is None:
                self._states.clear()  # what one person saw when it looked back is old
            self._states[OUTSIDE if to is None else to] = time.monotonic(), message
            self._tell_people()
            for person in self._people.values() if message["over"] or message["why"] else ():
                self._miss(person)  # its seat was kept while the match went on
            if not self._opened.done():
                self._opened.set_result(None)
        for name in ("text", "note"):  # text of a note, note of a search or hint
            if name in message:
                message[name] = without_folders(message[name])
        for person in self._everybody():
            if to in (None, person.number, self._sees_as(person)):
                person.news.send(kind, message)

    def _gone(self, child: Child) -> None:
        self.reservation.release()
        self._ended("its process has ended")

    def _ended(self, why: str) -> None:
        why = without_folders(why)
        if not self._opened.done():
            self._opened.set_exception(GdlError(f"the table could not be set up: {why}"))
        if not self.over:
            self.over = why
            for person in self._everybody():
                person.news.send("ended", {"text": why})


class OpenTables:
    """All tables of a server.

    Args:
        players: the names and addresses of players that pages may choose in addition to public names.
        budget: the budget of all work for pages.

    Attributes:
        hear: receives the public events of all tables.
    """

    def __init__(self, players: Sequence[str], budget: WorkBudget) -> None:
        self.players = tuple(players)
        self._budget = budget
        self._opening = 0
        self.hear: Hear = lambda event, data: None
        self._opened = 0
        self._tables: dict[str, _OpenTable] = {}
        self._sweeper: asyncio.Task[None] | None = None

    def get(self, name: str) -> _OpenTable:
        """The table with this id. Raises GdlError if there is none."""
        table = self._tables.get(name)
        if table is None:
            raise GdlError("this table does not exist or is closed", remedy="open a new one")
        return table

    async def open(self, request: dict[str, Any]) -> _OpenTable:
        """Open a table. Raises BusyError if there are too many, GdlError if it cannot be opened."""
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())
        while len(self._tables) + self._opening >= MOST:
            tables = self._tables.values()
            left = next((one for one in tables if one.makes_room), None)
            if left is None:
                raise BusyError(f"{MOST} tables are open", remedy="close one, or try again in a minute")
            await self._drop(left)
        # Counted from here on, because several tables may be opened at the same time.
        self._opening += 1
        try:
            table = await self._begin(request)
            try:
                await table.opened({**request, "allowed": self.players})
            except BaseException:
                await table.close()
                raise
            self._tables[table.id] = table
        finally:
            self._opening -= 1
        return table

    async def _begin(self, request: dict[str, Any]) -> _OpenTable:
        """Start the process of a table as soon as the budget permits it."""
        table: _OpenTable | None = None

        def idle() -> bool:
            return table is not None and table.id in self._tables and table.makes_room

        async def end() -> None:
            if table is not None:
                await self._drop(table)

        reservation = await self._budget.reserve("a table", _need_of(request), idle, end)
        try:
            child = await Child.spawn("ggp.web.play.table_process", max_line=_MAX_LINE)
        except OSError as error:
            reservation.release()
            raise BusyError(f"no process can be started: {error.strerror}") from None
        except BaseException:
            reservation.release()
            raise
        self._opened += 1
        outside = _TableNews(f"table {self._opened}", request.get("playclock", 2.0), self.hear)
        table = _OpenTable(child, outside, reservation, request.get("name", ""))
        return table

    async def close(self) -> None:
        """End all."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        await asyncio.gather(*(self._drop(table) for table in list(self._tables.values())))

    async def _drop(self, table: _OpenTable) -> None:
        self._tables.pop(table.id, None)
        await table.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(30.0)
            for table in list(self._tables.values()):
                if table.idle(IDLE_SECONDS) or (table.over and not table.readers):
                    await self._drop(table)


TABLES = web.AppKey("tables", OpenTables)
KINDS = {"record": ("application/json", "json"), "html": ("text/html", "html")}
"""The formats of a saved match: form -> content type and file ending."""
MOST_SEATS = 64
LONGEST_MATCH = 600
"""Minutes that a role may have for a match, at most."""
OPENING = fields(
    **SOURCE,
    title=text(1000),
    seats=rows(PLAYER, most=MOST_SEATS),
    others=text(1000),
    playclock=number(0.05, LONGEST_CLOCK),
    minutes=number(0, LONGEST_MATCH),
    increment=number(0, LONGEST_CLOCK),
    name=text(LONGEST_NAME),
    patience=number(0, LONGEST_CLOCK),
    workers=whole(0, cores()),
    moves=rows(rows(text(2000, 1), 1, MOST_SEATS), most=MOST_STATES),
)


def add_routes(app: web.Application) -> None:
    """Add the room to the application."""
    app[TABLES] = OpenTables(app[SETTINGS].players, app[BUDGET])
    app.cleanup_ctx.append(_close)
    add_page(app, "/play", _page)
    add_page(app, "/play/{table}", _page)
    app.router.add_get("/play/{table}/events", _events)
    app.router.add_get("/play/{table}/rules", _rules)
    app.router.add_get("/play/{table}/open", _still_open)
    app.router.add_get("/play/{table}/keep", _keep)
    app.router.add_post("/play/tables", _open)
    app.router.add_post("/play/{table}/{do}", _request)


async def _close(app: web.Application) -> AsyncIterator[None]:
    yield
    await app[TABLES].close()


async def _page(request: web.Request) -> web.Response:
    table = request.match_info.get("table", "")
    players = request.app[TABLES].players
    if not table:
        cards = await request.app[KNOWN].cards.get()
        styles = ("board.css", "cards.css")
        return page(request, "Play", "choose.js", styles, cards=cards, players=players, names=NAMES)
    sheets = ("board.css", "replay.css", "play.css", "hidden.css")
    names = [*NAMES, *players]
    return page(request, "Play", "play.js", sheets, table=table, players=names, offered=players)


async def _events(request: web.Request) -> web.StreamResponse:
    table = request.app[TABLES].get(request.match_info["table"])
    return await table.hear(request, request.query.get("key", ""))


async def _open(request: web.Request) -> web.Response:
    body = json_object(request, OPENING)
    name = checked_name(body.get("name", ""), request.app[TABLES].players)
    table_request = {**body, **checked_source(body), "name": name}
    cards = await request.app[KNOWN].cards.get()
    numbers = {card["name"]: place for place, card in enumerate(cards)}
    place = numbers.get(body.get("game", ""))
    title = body.get("title", "")
    if place is not None:
        card, after = cards[place], cards[(place + 1) % len(cards)]
        title = card["title"]
        if card["kind"] == after["kind"] == "level":
            table_request["next_card"] = after["name"]
    table = await request.app[TABLES].open({**table_request, "title": visible(title)})
    return web.json_response({"table": table.id, "page": table.page, "key": table.owner.key})


async def _rules(request: web.Request) -> web.Response:
    return web.json_response(request.app[TABLES].get(request.match_info["table"]).rules)


async def _still_open(request: web.Request) -> web.Response:
    """Whether a table is still there; asked before a page offers to go on at it."""
    try:
        is_open = not request.app[TABLES].get(request.match_info["table"]).over
    except GdlError:
        is_open = False
    return web.json_response({"open": is_open})


async def _keep(request: web.Request) -> web.Response:
    """Download the match up to now as a file: ``form=record`` or ``form=html``; with ``over=yes`` the last
    one that is over."""
    form = request.query.get("form", "record")
    if form not in KINDS:
        raise GdlError(f"form must be one of {', '.join(KINDS)}")
    table = request.app[TABLES].get(request.match_info["table"])
    text = await table.kept(form, request.query.get("key", ""), request.query.get("over") == "yes")
    kind, ending = KINDS[form]
    return attachment(text, kind, f"match.{ending}")


async def _request(request: web.Request) -> web.Response:
    do = request.match_info["do"]
    if do not in REQUESTS:
        raise web.HTTPNotFound(reason="there is no such request")
    kind = REQUESTS[do]
    body = json_object(request, fields(**kind.fields, **kind.more, key=text(100)))
    key = body.pop("key", "")
    table = request.app[TABLES].get(request.match_info["table"])
    if do == "sit":
        players = request.app[TABLES].players
        return web.json_response({"key": table.sit(body.get("role", ""), body.get("name", ""), key, players)})
    table.request(do, body, key)
    return web.json_response({})


ROOM = PageRoom(add_routes, "/play", "Play", ("ggp.web.play.table_process",))
"""An entry point of ``kaskade.rooms``."""

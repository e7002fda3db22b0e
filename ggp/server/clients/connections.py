"""Connections of game managers and browsers to the server, the replies, the pages.

The event loop's process only moves text about.

A GET with an empty path is answered with the status page if the client accepts HTML or plain text, and
``/metrics`` with what Prometheus reads; everything else, POST or GET, is a message.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gdl.errors import GdlError
from ggp.protocol.http10 import (
    GREETING,
    HttpError,
    Request,
    read_request,
    readable_by,
    reply_bytes,
    send_and_close,
    until_gone,
)
from ggp.protocol.messages import Info, Message, Play, Preview, Start, parse_message
from ggp.server import metrics, status
from ggp.server.clients.visitors import Visitors
from ggp.server.log_lines import one_line
from ggp.server.margin import round_trip
from ggp.server.match import ServedMatch
from ggp.server.settings import ServerConfig

BIG_MESSAGE = 32 * 1024
"""Messages longer than this are parsed in a thread, so that other connections go on."""

MOMENT = 0.02
"""Seconds after which a new connection makes others go."""


class Desk(Protocol):
    """Who answers what comes in by the connections."""

    config: ServerConfig
    metrics: metrics.Metrics

    async def answer(self, message: Message, received: float) -> str:
        """The reply to a message that came at ``received``; GdlError with the reason if there is none."""

    def status(self) -> status.ServerStatus:
        """What the status page shows."""

    def match(self, match_id: str) -> ServedMatch | None:
        """The match that is being played under this id."""


@dataclass(frozen=True, slots=True)
class _Reply:
    """The whole reply to a client, its HTTP status, and the match that had to move or to get ready, where one
    had to; ``clock`` is ``play`` or ``start`` then, else empty."""

    data: bytes
    status: int = 200
    match: ServedMatch | None = None
    clock: str = ""
    message: Message | None = None


@dataclass(eq=False, slots=True)
class _Client:
    """A connection. ``since`` when (time.monotonic) it began to send or to take its reply; ``waits`` for an
    answer; ``greeted`` with the first bytes of its reply, ``replied`` with all; ``put_off`` to make room."""

    address: str
    writer: StreamWriter
    since: float
    task: asyncio.Task[None] | None = None
    waits: bool = False
    greeted: bool = False
    replied: bool = False
    put_off: bool = False


class Connections:
    """All connections of one server."""

    def __init__(self, desk: Desk, log: Callable[..., None]) -> None:
        self._desk = desk
        self._config = desk.config
        self._metrics = desk.metrics
        self._say = log
        self._clients: set[_Client] = set()
        self._answers: set[asyncio.Task[str]] = set()
        self._visitors = Visitors(self._config.host, self._config.allow_origins)

    def connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Take a connection."""
        peer = writer.get_extra_info("peername")
        client = _Client(str(peer[0]) if peer else "", writer, time.monotonic())
        self._clients.add(client)
        client.task = asyncio.create_task(self._converse(client, reader))
        client.task.add_done_callback(lambda _: self._forget(client))
        if len(self._clients) > self._config.max_connections + self._config.backlog:
            self._make_room(client.address)
        else:
            # Of many that come at once, those are served first that have sent their message: in one round
            # of the event loop it is read, in the next one taken, then others go.
            loop = asyncio.get_running_loop()
            loop.call_later(MOMENT, loop.call_soon, loop.call_soon, self._make_room, client.address)

    async def close(self) -> None:
        """End all connections."""
        tasks: list[asyncio.Task[Any]] = [client.task for client in self._clients if client.task is not None]
        for task in (*tasks, *self._answers):
            task.cancel()
        if tasks or self._answers:
            await asyncio.wait([*tasks, *self._answers])

    def _make_room(self, address: str) -> None:
        """Put off the client that has been silent longest, where there are too many: from the address of the
        newest or, with too many of all, from the one with most."""
        active = [client for client in self._clients if not (client.waits or client.put_off)]
        count = Counter(client.address for client in active)
        if count[address] <= self._config.max_per_address:
            if len(active) <= self._config.max_connections:
                return
            address = count.most_common(1)[0][0]
        oldest = min((c for c in active if c.address == address), key=lambda client: client.since)
        oldest.put_off = True
        if not oldest.replied:
            self._metrics.replies.labels("503").inc()
            oldest.writer.write(reply_bytes("error: too many connections", 503))
        if oldest.task is not None:
            oldest.task.cancel()

    def _forget(self, client: _Client) -> None:
        self._clients.discard(client)
        if not client.writer.transport.is_closing():
            client.writer.transport.abort()

    async def _converse(self, client: _Client, reader: StreamReader) -> None:
        received, writer = client.since, client.writer
        reply: _Reply | None = None
        delivered = False
        try:
            reply = await self._reply(client, reader, received)
            self._metrics.replies.labels(str(reply.status)).inc()
            if reply.match is not None:
                start = reply.match.start
                clock = start.playclock if reply.clock == "play" else start.startclock
                reply.match.margin.round_trip(round_trip(writer.get_extra_info("socket")))
                share = (time.monotonic() - received) / max(clock, 1)
                self._metrics.share.labels(reply.clock).observe(share)
            client.since, client.replied = time.monotonic(), True
            data = reply.data.removeprefix(GREETING) if client.greeted else reply.data
            await send_and_close(reader, writer, data)
            delivered = True
        except OSError as error:  # a reset, a time-out, or a half-closed connection that broke
            self._say("debug", "connection lost", error=str(error) or type(error).__name__)
        except asyncio.CancelledError:
            if not client.put_off:
                raise
            delivered = client.replied
        finally:
            if reply is not None and reply.match is not None and isinstance(reply.message, Play):
                reply.match.sent(reply.message, delivered)

    async def _reply(self, client: _Client, reader: StreamReader, received: float) -> _Reply:
        origin = ""
        try:
            request = await self._request(reader, client.writer)
            origin = self._visitors.origin(request.headers)
            reply = await self._answer(client, reader, request, received)
        except GdlError as error:
            code = error.status if isinstance(error, HttpError) else 400
            text = one_line(str(error))
            self._say("debug" if code == 404 else "warning", "bad request", status=code, error=text)
            reply = _Reply(reply_bytes(f"error: {text}", code), code)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:
            # Whatever a stranger sends must not stop the server from serving others.
            self._say("error", "internal error", error=one_line(f"{type(error).__name__}: {error}"))
            reply = _Reply(reply_bytes("error: internal error", 500), 500)
        return replace(reply, data=readable_by(origin, reply.data)) if origin else reply

    async def _request(self, reader: StreamReader, writer: StreamWriter) -> Request:
        seconds = self._config.read_seconds
        try:
            async with asyncio.timeout(seconds):
                return await read_request(reader, writer, self._config.max_body)
        except TimeoutError:
            raise HttpError(408, f"no whole message within {seconds:g} s") from None

    async def _answer(
        self, client: _Client, reader: StreamReader, request: Request, received: float
    ) -> _Reply:
        if request.method == "OPTIONS":
            self._count("options")
            return _Reply(reply_bytes(""))
        page = self._page(request)
        if page is not None:
            return _Reply(page)
        self._visitors.check_message(request.headers)
        try:
            message = await _message(request)
        except GdlError:
            self._count("unreadable")
            raise
        kind = type(message).__name__.lower()
        self._count(kind)
        if isinstance(message, Start | Play | Preview):
            body = reply_bytes(await self._waited_for(client, reader, message, received))
        else:
            body = reply_bytes(await self._desk.answer(message, received))
        if not isinstance(message, Play | Start):
            return _Reply(body)
        return _Reply(body, 200, self._desk.match(message.match), kind, message)

    async def _waited_for(
        self, client: _Client, reader: StreamReader, message: Message, received: float
    ) -> str:
        """The reply to a message that takes its time. Raises ConnectionError if the client goes before."""

        def greet() -> None:
            client.greeted = True
            client.writer.write(GREETING)

        client.waits = True
        answer = asyncio.create_task(self._desk.answer(message, received))
        self._answers.add(answer)
        answer.add_done_callback(self._answered)
        gone = asyncio.create_task(until_gone(reader, client.writer, greet))
        try:
            await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            # Two cannot read at once.
            await asyncio.wait([gone])
            client.waits = False
        if answer.done():
            return answer.result()
        if isinstance(message, Play):
            # The match goes on. What has begun with a START or PREVIEW comes to its end.
            answer.cancel()
            match = self._desk.match(message.match)
            if match is not None:
                match.sent(message, False)
        raise ConnectionResetError("the client has gone")

    def _answered(self, answer: asyncio.Task[str]) -> None:
        self._answers.discard(answer)
        if not answer.cancelled():
            answer.exception()  # somebody has heard of it, or nobody is left to hear

    def _count(self, kind: str) -> None:
        self._metrics.requests.labels(kind).inc()

    def _page(self, request: Request) -> bytes | None:
        """The whole reply to a GET that asks for a page; None for a message."""
        path = request.message.strip()
        if request.method != "GET" or path not in ("", "metrics"):
            return None
        if path == "metrics":
            self._visitors.check_page(request.headers)
            self._count("metrics")
            return reply_bytes(self._metrics.text(), content_type=metrics.CONTENT_TYPE)
        accept = request.headers.get("accept", "")
        html = status.wants_html(accept)
        if not html and not status.wants_text(accept):
            return None  # a manager of old, or a health check: INFO
        self._visitors.check_page(request.headers)
        self._count("status")
        page = status.as_html if html else status.as_text
        kind = "html" if html else "plain"
        return reply_bytes(page(self._desk.status()), content_type=f"text/{kind}; charset=utf-8")


async def _message(request: Request) -> Message:
    text = request.message.strip()
    if request.method == "GET":
        # Links and pictures of any page are GETs, and some programs follow them on their own.
        if text.strip("() ").lower() in ("", "info"):
            return Info()  # a person's browser, or a health check
        if "(" not in text:
            raise HttpError(404, "there is no such page")
        raise HttpError(405, "only INFO can be sent by GET", "send messages by POST")
    if len(text) > BIG_MESSAGE:
        return await asyncio.to_thread(parse_message, text)
    return parse_message(text)

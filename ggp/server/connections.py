"""The server's front: connections of game managers and browsers, the replies, the pages.

The event loop's process only moves text about.

A GET with an empty path is answered with the status page if the client accepts HTML or plain
text, ``/metrics`` with what Prometheus reads; everything else, POST or GET, is a message.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gdl.errors import GdlError
from ggp.protocol.http10 import HttpError, Request, read_request, reply_bytes, send_and_close
from ggp.protocol.messages import Info, Message, Play, Start, parse_message
from ggp.server import metrics, status
from ggp.server.log_lines import one_line
from ggp.server.margin import round_trip
from ggp.server.match import ServedMatch
from ggp.server.metrics import Metrics
from ggp.server.status import ServerStatus

BIG_MESSAGE = 32 * 1024
"""Messages longer than this are taken apart in a thread, so that other connections go on."""


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """What a client may take.

    Attributes:
        read_seconds: how long it may take to send its message.
        max_body: bytes that a message may have.
        max_connections: how many connections at once; more are turned away.
    """

    read_seconds: float
    max_body: int
    max_connections: int


@dataclass(frozen=True, slots=True)
class Desk:
    """Who answers: messages with the time at which they came, the status page, which match has an id."""

    answer: Callable[[Message, float], Awaitable[str]]
    status: Callable[[], ServerStatus]
    match: Callable[[str], ServedMatch | None]


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a client gets.

    Attributes:
        data: the whole reply.
        status: its HTTP status.
        match: the match that was asked for a move or to get ready.
        clock: ``start`` or ``play`` for these two; else empty.
    """

    data: bytes
    status: int = 200
    match: ServedMatch | None = None
    clock: str = ""


class Connections:
    """All connections of one server."""

    def __init__(self, limits: ClientLimits, desk: Desk, counts: Metrics, log: Callable[..., None]) -> None:
        self._limits = limits
        self._desk = desk
        self._metrics = counts
        self._say = log
        self._connections: set[asyncio.Task[None]] = set()

    def connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Take a connection."""
        task = asyncio.create_task(self._converse(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def close(self) -> None:
        """End all connections."""
        for task in list(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        received = time.monotonic()
        match: ServedMatch | None = None
        delivered = False
        try:
            if len(self._connections) > self._limits.max_connections:
                reply = _Reply(reply_bytes("error: too many connections", 503), 503)
            else:
                reply = await self._reply(reader, writer, received)
            self._metrics.replies.labels(str(reply.status)).inc()
            match = reply.match if reply.clock == "play" else None
            if reply.match is not None:
                reply.match.margin.round_trip(round_trip(writer.get_extra_info("socket")))
                self._note_time(reply, time.monotonic() - received)
            await send_and_close(reader, writer, reply.data)
            delivered = True
        except OSError as error:  # a reset, a time-out, or a half-closed connection that broke
            self._say("debug", "connection lost", error=str(error) or type(error).__name__)
        finally:
            if match is not None:
                match.sent(delivered)
            if not writer.transport.is_closing():
                writer.transport.abort()

    def _note_time(self, reply: _Reply, seconds: float) -> None:
        assert reply.match is not None
        start = reply.match.start
        clock = start.startclock if reply.clock == "start" else start.playclock
        self._metrics.share.labels(reply.clock).observe(seconds / max(clock, 1))

    async def _reply(self, reader: StreamReader, writer: StreamWriter, received: float) -> _Reply:
        try:
            try:
                async with asyncio.timeout(self._limits.read_seconds):
                    request = await read_request(reader, writer, self._limits.max_body)
            except TimeoutError:
                raise HttpError(408, f"no whole message within {self._limits.read_seconds:g} s") from None
            if request.method == "OPTIONS":
                self._count("options")
                return _Reply(reply_bytes(""))
            page = self._page(request)
            if page is not None:
                return _Reply(page)
            try:
                message = await _message(request)
            except GdlError:
                self._count("unreadable")
                raise
            clock = type(message).__name__.lower()
            self._count(clock)
            body = await self._desk.answer(message, received)
            if not isinstance(message, (Play, Start)):
                return _Reply(reply_bytes(body))
            return _Reply(reply_bytes(body), 200, self._desk.match(message.match), clock)
        except GdlError as error:
            code = error.status if isinstance(error, HttpError) else 400
            text = one_line(str(error))
            self._say("warning", "bad request", status=code, error=text)
            return _Reply(reply_bytes(f"error: {text}", code), code)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:
            # Whatever a stranger sends must not stop the server from serving others.
            self._say("error", "internal error", error=one_line(f"{type(error).__name__}: {error}"))
            return _Reply(reply_bytes("error: internal error", 500), 500)

    def _count(self, kind: str) -> None:
        self._metrics.requests.labels(kind).inc()

    def _page(self, request: Request) -> bytes | None:
        """The whole reply to a GET that asks for a page; None for a message."""
        path = request.message.strip()
        if request.method != "GET" or path not in ("", "metrics"):
            return None
        if path == "metrics":
            self._count("metrics")
            return reply_bytes(self._metrics.text(), content_type=metrics.CONTENT_TYPE)
        html = status.wants_html(request.accept)
        if not html and not status.wants_text(request.accept):
            return None  # a manager of old, or a health check: INFO
        self._count("status")
        if html:
            return reply_bytes(status.as_html(self._desk.status()), content_type="text/html; charset=utf-8")
        return reply_bytes(status.as_text(self._desk.status()), content_type="text/plain; charset=utf-8")


async def _message(request: Request) -> Message:
    text = request.message.strip()
    if request.method == "GET" and not text:
        return Info()  # a person's browser, or a health check
    if len(text) > BIG_MESSAGE:
        return await asyncio.to_thread(parse_message, text)
    return parse_message(text)

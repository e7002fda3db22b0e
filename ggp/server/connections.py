"""Connections of game managers and browsers to the server, the replies, the pages.

The event loop's process only moves text about.

A GET with an empty path is answered with the status page if the client accepts HTML or plain text, and
``/metrics`` with what Prometheus reads; everything else, POST or GET, is a message.
"""

from __future__ import annotations

import asyncio
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gdl.errors import GdlError
from ggp.protocol.http10 import HttpError, Request, read_request, reply_bytes, send_and_close
from ggp.protocol.messages import Info, Message, Play, Start, parse_message
from ggp.server import metrics, status
from ggp.server.log_lines import one_line
from ggp.server.margin import round_trip
from ggp.server.match import ServedMatch
from ggp.server.settings import ServerConfig

BIG_MESSAGE = 32 * 1024
"""Messages longer than this are parsed in a thread, so that other connections go on."""


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


class Connections:
    """All connections of one server."""

    def __init__(self, desk: Desk, log: Callable[..., None]) -> None:
        self._desk = desk
        self._config = desk.config
        self._metrics = desk.metrics
        self._say = log
        self._tasks: set[asyncio.Task[None]] = set()

    def connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Take a connection."""
        task = asyncio.create_task(self._converse(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all connections."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        received = time.monotonic()
        reply = _Reply(b"")
        delivered = False
        try:
            if len(self._tasks) > self._config.max_connections:
                reply = _Reply(reply_bytes("error: too many connections", 503), 503)
            else:
                reply = await self._reply(reader, writer, received)
            self._metrics.replies.labels(str(reply.status)).inc()
            if reply.match is not None:
                start = reply.match.start
                clock = start.playclock if reply.clock == "play" else start.startclock
                reply.match.margin.round_trip(round_trip(writer.get_extra_info("socket")))
                share = (time.monotonic() - received) / max(clock, 1)
                self._metrics.share.labels(reply.clock).observe(share)
            await send_and_close(reader, writer, reply.data)
            delivered = True
        except OSError as error:  # a reset, a time-out, or a half-closed connection that broke
            self._say("debug", "connection lost", error=str(error) or type(error).__name__)
        finally:
            if reply.match is not None and isinstance(reply.message, Play):
                reply.match.sent(reply.message, delivered)
            if not writer.transport.is_closing():
                writer.transport.abort()

    async def _reply(self, reader: StreamReader, writer: StreamWriter, received: float) -> _Reply:
        try:
            return await self._answer(await self._request(reader, writer), received)
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

    async def _request(self, reader: StreamReader, writer: StreamWriter) -> Request:
        seconds = self._config.read_seconds
        try:
            async with asyncio.timeout(seconds):
                return await read_request(reader, writer, self._config.max_body)
        except TimeoutError:
            raise HttpError(408, f"no whole message within {seconds:g} s") from None

    async def _answer(self, request: Request, received: float) -> _Reply:
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
        kind = type(message).__name__.lower()
        self._count(kind)
        body = reply_bytes(await self._desk.answer(message, received))
        if not isinstance(message, Play | Start):
            return _Reply(body)
        return _Reply(body, 200, self._desk.match(message.match), kind, message)

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
        page = status.as_html if html else status.as_text
        kind = "html" if html else "plain"
        return reply_bytes(page(self._desk.status()), content_type=f"text/{kind}; charset=utf-8")


async def _message(request: Request) -> Message:
    text = request.message.strip()
    if request.method == "GET" and not text:
        return Info()  # a person's browser, or a health check
    if len(text) > BIG_MESSAGE:
        return await asyncio.to_thread(parse_message, text)
    return parse_message(text)

"""The connections to ``ggp web``, as its listener counts them, and the bodies of their requests.

aiohttp reads and answers HTTP. This module adds the protections of a public server. Idle connections make
room for others. Bytes that are not HTTP get a one-line reply and no line in the log. A peer that closes its
sending side after the last byte still gets the answer. A body is read whole, within limits of size and time,
before it is used. It stays in memory until its request is answered, and all such bodies share one limit.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import StreamReader, web
from aiohttp.web_protocol import RequestHandler

from gdl.json_schema import Schema, check_json
from ggp.log_lines import one_line, say
from ggp.protocol.dialect import MAX_HEAD
from ggp.protocol.http_error import RETRY_SECONDS, BusyError, HttpError, object_of
from ggp.protocol.listener import Listener

KEPT_SECONDS = 15.0
"""Seconds after which a connection without a complete request may be closed."""
CLOSE_SECONDS = 1.0
"""Seconds to wait for the rest of a body that the handler did not read."""
_REST_SECONDS = 0.5
"""Seconds for reading the bytes received before the peer closed its sending side."""
_QUIET = logging.getLogger("ggp.web.http")
_QUIET.disabled = True  # errors are logged as one line instead


class Visit(RequestHandler):
    """One connection: a guest of the listener.

    Args:
        server: the application's.
        listener: counts it.
        headers: of replies that do not come from the application.

    Attributes:
        address, since, waits: as :class:`ggp.protocol.listener.Guest` has them.
        body: the stream of the request body that is being read; None otherwise.
        stream: the task of an endless reply, which ends with the connection; None otherwise.
    """

    __slots__ = ("_ended", "_fed", "_headers", "_listener", "address", "body", "since", "stream", "waits")

    def __init__(self, server: web.Server, listener: Listener, headers: Mapping[str, str]) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=KEPT_SECONDS,
            lingering_time=CLOSE_SECONDS,
            tcp_keepalive=False,
            auto_decompress=False,  # pages send nothing packed, and a bomb is small
            logger=_QUIET,
            access_log=None,  # type: ignore[arg-type]
            max_field_size=MAX_HEAD,
        )
        self.address = ""
        self.since = time.monotonic()
        self.waits = False
        self.body: StreamReader | None = None
        self.stream: asyncio.Task[Any] | None = None
        self._headers = headers
        self._listener = listener
        self._ended = self._fed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else ""
        super().connection_made(transport)
        self._listener.took(self)

    def data_received(self, data: bytes) -> None:
        self.since = time.monotonic()
        self._fed = True
        super().data_received(data)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection open: a peer that has stopped sending still gets its answers. A page that
        closes its events does the same, and has gone."""
        self._ended, self.since = True, time.monotonic()
        return self.stream is None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._listener.forget(self)
        super().connection_lost(exc)
        if self.stream is not None:  # otherwise the next event or ping would find that the peer has gone
            self.stream.cancel()

    def put_off(self) -> None:
        """Close at once, to make room for others. A peer without a reply gets status 503."""
        if self.transport is not None:
            if self._idle:
                self._say(503, "too many connections")
            self.transport.abort()
        self._listener.forget(self)

    def check(self, now: float) -> None:
        """Close the connection of a peer that sends no more and has all of its answers."""
        if not self._ended:
            return
        if self.body is not None and not self.body.is_eof() and now > self.since + _REST_SECONDS:
            self.body.set_exception(HttpError(400, "the body ends before its end"))
        elif self._idle and self.transport is not None:
            if self._fed and not self._request_count:
                self._say(400, "the HTTP request is incomplete")
            self.transport.close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The reply to a malformed HTTP request, or to an error outside the application."""
        if request.writer.output_size > 0:
            raise ConnectionError("a reply has begun")
        if isinstance(exc, UnicodeError):  # header bytes that are not valid text
            status = 400
        if status >= 500:
            say("error", "internal error", error=one_line(f"{type(exc).__name__}: {exc}"))
        text = "the HTTP request cannot be parsed" if status < 500 else "internal error"
        reply = web.json_response({"error": text}, status=status, headers=self._headers)
        reply.force_close()
        return reply

    @property
    def unsent(self) -> int:
        """Bytes that were written to the peer and that it has not received yet."""
        return 0 if self.transport is None else self.transport.get_write_buffer_size()

    @property
    def _idle(self) -> bool:
        """Whether aiohttp waits for a request."""
        return self._waiter is not None and not self._waiter.done()

    def _say(self, status: int, text: str) -> None:
        body = orjson.dumps({"error": text})
        lines = {
            **self._headers,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **({"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        assert self.transport is not None
        self.transport.write(f"HTTP/1.1 {status} -\r\n{head}\r\n".encode() + body)


def visit_of(request: web.Request) -> Visit | None:
    """The connection of a request; None if the listener does not count it."""
    visit = request.protocol
    return visit if isinstance(visit, Visit) else None


def touch(request: web.Request) -> None:
    """Note that the peer of a request has just received data, so it does not count as silent."""
    if (visit := visit_of(request)) is not None:
        visit.since = time.monotonic()


MAX_BODY = 2 * 1024 * 1024
"""Largest body in bytes, unless a route sets its own limit."""
MOST_HELD = 32 * 1024 * 1024
"""Total bytes of the bodies that are being read or whose requests are not answered yet."""
_WHOLE_SECONDS = 30.0
"""Seconds within which a body must arrive."""
_PAUSE_SECONDS = 10.0
"""Longest pause in seconds between two chunks of a large body."""
_LATE = HttpError(408, "the body takes too long to come", "send it at once")


@dataclass
class HeldBodies:
    """The total size in bytes of the bodies in memory."""

    size: int = 0


HELD = web.AppKey("held", HeldBodies)
_BODY = web.RequestKey("body", bytearray)


@asynccontextmanager
async def held_body(request: web.Request) -> AsyncIterator[None]:
    """Read the body for :func:`json_object`, and count it until the request is answered. Raises HttpError if
    it does not arrive in time or is too long, BusyError if the bodies in memory are too large together."""
    held, body = request.app[HELD], bytearray()
    request[_BODY] = body
    end = time.monotonic() + _WHOLE_SECONDS
    try:
        async for chunk in body_chunks(request, MAX_BODY):
            if time.monotonic() > end:
                raise _LATE
            if held.size + len(chunk) > MOST_HELD:
                raise BusyError("too many requests wait for their answers")
            held.size += len(chunk)
            body += chunk
        yield
    finally:
        held.size -= len(body)


async def body_chunks(request: web.Request, most: int) -> AsyncIterator[bytes]:
    """Yield a large body chunk by chunk. Raises HttpError if a chunk does not arrive in time, or if the body
    has more than ``most`` bytes."""
    size = 0
    while True:
        with _reading(request):
            try:
                async with asyncio.timeout(_PAUSE_SECONDS):
                    chunk = await request.content.readany()
            except TimeoutError:
                raise _LATE from None
        if not chunk:
            return
        touch(request)
        size += len(chunk)
        if size > most:
            raise HttpError(413, f"the body has more than {most:,} bytes")
        yield chunk


@contextmanager
def _reading(request: web.Request) -> Iterator[None]:
    visit = visit_of(request)
    if visit is not None:
        visit.body, visit.waits = request.content, False
    try:
        yield
    finally:
        if visit is not None:
            visit.body, visit.waits = None, True


def json_object(request: web.Request, schema: Schema) -> dict[str, Any]:
    """The JSON object in a request's body. Unless the schema has
    ``additionalProperties``, nulls and names that it does not list are dropped. Raises GdlError if the body
    is not an object or does not match the schema."""
    body = object_of(request[_BODY])
    if "additionalProperties" not in schema:
        body = {name: body[name] for name in schema["properties"] if body.get(name) is not None}
    check_json(body, schema)
    return body


def fields(**properties: Schema) -> Schema:
    """The schema of an object with these properties, all optional."""
    return {"type": "object", "properties": properties}

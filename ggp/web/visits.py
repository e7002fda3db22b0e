"""The connections to ``ggp web``, as its listener counts them, and the bodies of their requests.

aiohttp reads and answers HTTP. This adds what a server for strangers needs: idle connections make room for
others, what is no HTTP gets one line and leaves none in the log, and whoever closes the sending side after
the last byte still gets the answer. A body is read whole, within bounds of size and time, before anything is
done with it. Until its request is answered it counts among the bodies that are held, which are bounded
together.
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
"""How long a connection stays without a whole request."""
CLOSE_SECONDS = 1.0
"""How long a body that nobody reads is waited for."""
REST_SECONDS = 0.5
"""How long what came before the end of a peer's bytes may take to be read."""
_QUIET = logging.getLogger("ggp.web.http")
_QUIET.disabled = True  # what goes wrong is logged as one line


class Visit(RequestHandler):
    """One connection: a guest of the listener.

    Args:
        server: the application's.
        listener: counts it.
        headers: of replies that do not come from the application.

    Attributes:
        address, since, waits: as :class:`ggp.protocol.listener.Guest` has them.
        body: what is being read of a request's body, while it is.
    """

    __slots__ = ("_ended", "_fed", "_headers", "_listener", "address", "body", "since", "waits")

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
        """The peer sends no more, and still gets the answers to what it has sent."""
        self._ended, self.since = True, time.monotonic()
        return True

    def connection_lost(self, exc: BaseException | None) -> None:
        self._listener.forget(self)
        super().connection_lost(exc)

    def put_off(self) -> None:
        """Close at once, to make room for others; who has no reply yet is told why."""
        if self.transport is not None:
            if self._idle:
                self._say(503, "too many connections")
            self.transport.abort()
        self._listener.forget(self)

    def check(self, now: float) -> None:
        """Close the connection of a peer that sends no more and has all of its answers."""
        if not self._ended:
            return
        if self.body is not None and not self.body.is_eof() and now > self.since + REST_SECONDS:
            self.body.set_exception(HttpError(400, "the body ends before its end"))
        elif self._idle and self.transport is not None:
            if self._fed and not self._request_count:
                self._say(400, "this is no whole HTTP request")
            self.transport.close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The reply to what is no HTTP, or to a request that went wrong outside of the application."""
        if request.writer.output_size > 0:
            raise ConnectionError("a reply has begun")
        if isinstance(exc, UnicodeError):  # bytes of a header that are no text
            status = 400
        if status >= 500:
            say("error", "internal error", error=one_line(f"{type(exc).__name__}: {exc}"))
        text = "this is no HTTP request that can be read" if status < 500 else "internal error"
        reply = web.json_response({"error": text}, status=status, headers=self._headers)
        reply.force_close()
        return reply

    @property
    def unsent(self) -> int:
        """Bytes that were written to it, and that it has not taken."""
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
    """The connection of a request, where the listener counts it."""
    visit = request.protocol
    return visit if isinstance(visit, Visit) else None


def touch(request: web.Request) -> None:
    """The peer of a request has just taken something: it is not silent."""
    if (visit := visit_of(request)) is not None:
        visit.since = time.monotonic()


MAX_BODY = 2 * 1024 * 1024
"""Bytes of a body, where a route does not say otherwise."""
MOST_HELD = 32 * 1024 * 1024
"""Bytes of all bodies together that are being read, or whose requests are not answered yet."""
WHOLE_SECONDS = 30.0
"""How long a body may take to come."""
PAUSE_SECONDS = 10.0
"""How long the sender of a large body may pause."""
_LATE = HttpError(408, "the body takes too long to come", "send it at once")


@dataclass
class HeldBodies:
    """How many bytes the bodies have that are held now."""

    size: int = 0


HELD = web.AppKey("held", HeldBodies)
_BODY = web.RequestKey("body", bytearray)


@asynccontextmanager
async def held_body(request: web.Request) -> AsyncIterator[None]:
    """Read the body, which :func:`json_object` then has, and count it until the request is answered. Raises
    HttpError if it does not come or is too long, BusyError if too much is held."""
    held, body = request.app[HELD], bytearray()
    request[_BODY] = body
    end = time.monotonic() + WHOLE_SECONDS
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
    """A large body piece by piece, at most so many bytes. Raises HttpError where it does not come or is
    longer."""
    size = 0
    while True:
        with _reading(request):
            try:
                async with asyncio.timeout(PAUSE_SECONDS):
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
    """The JSON object that a request carries. Nulls, and names that the schema leaves open, are dropped.
    Raises GdlError if there is no object, or it does not follow the schema."""
    told = object_of(request[_BODY])
    if "additionalProperties" not in schema:
        told = {name: told[name] for name in schema["properties"] if told.get(name) is not None}
    check_json(told, schema)
    return told


def fields(**properties: Schema) -> Schema:
    """The schema of an object of which all these properties may be left out."""
    return {"type": "object", "properties": properties}

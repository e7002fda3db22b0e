"""The connections of a player's server: the handlers that read them, the replies to refused ones, and the
pages served by aiohttp: the status page, the metrics, and the match protocol.

A GET of ``/`` returns the status page if the client accepts HTML or plain text. ``/metrics`` returns the
counters for Prometheus. ``/events`` returns the events of the matches as server-sent events
(:mod:`ggp.server.match_news`), on this computer only unless the operator allows more. Everything else, POST
or GET, is a message of the match protocol. Routes added before :func:`_add_messages` take precedence.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import socket
import time
from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol, cast
from urllib.parse import unquote_plus

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestHandler

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.log_lines import one_line
from ggp.protocol.dialect import (
    CONTENT_TYPE,
    CONTINUE,
    GREETING,
    MAX_HEAD,
    RequestReader,
    decoded,
    in_peers_form,
    reply_bytes,
    rights,
)
from ggp.protocol.event_source import EventSource
from ggp.protocol.http_error import HttpError
from ggp.protocol.listener import Listener
from ggp.protocol.messages import Info, Message, Play, Preview, Start, parse_message
from ggp.server import status
from ggp.server.clients.visitors import Visitors, is_here, sender_of
from ggp.server.margin import round_trip
from ggp.server.match import ServedMatch
from ggp.server.settings import ServerConfig

_MAX_DROPPED = 64 * 1024
"""Bytes after a message that are read and dropped until its answer is sent."""
_LINGER_SECONDS = 0.5
"""Seconds that a peer may take to close once it has its reply."""
_TAKE_SECONDS = 5.0
"""Seconds that a peer may take to read a long reply."""
PEER = "peer"
"""The name under which aiohttp's handlers find a connection: ``transport.get_extra_info(PEER)``."""


class ConnectionPhase(Enum):
    """The progress of a connection."""

    READING = "its message comes in"
    ASKED = "aiohttp has its message"
    DIRECT = "aiohttp has the connection"
    REPLIED = "its reply goes out"
    OVER = "it is closed"


class Peer(asyncio.Protocol):
    """A connection: it reads its first message, has aiohttp answer it, and sends the reply as the peer knows
    it.

    ::

      READING -- the message is whole --> ASKED -- aiohttp replies --> REPLIED -- the peer closes --> OVER
         |                                  |                             |
         | too long, too slow, no HTTP      | the peer has gone           | half a second
         v                                  v                             v
      REPLIED                              OVER                          OVER

    A browser that goes on asking on one connection talks to aiohttp itself from its first message on: DIRECT.

    Attributes:
        address: the computer it comes from.
        sender: the address in a form that can be compared.
        since: when (time.monotonic()) it began to send or to take its reply, or was last active.
        phase: its progress.
        waits: whether it waits for an answer.
        sent: called when it has its reply, or can no longer get it.
    """

    def __init__(self, hub: Connections) -> None:
        self.address = self.sender = ""
        self.since = time.monotonic()
        self.phase = ConnectionPhase.READING
        self.waits = False
        self.sent: Callable[[bool], None] | None = None
        self.transport: asyncio.Transport
        self._hub = hub
        self._reader = RequestReader(hub.max_body)
        self._handler: RequestHandler | None = None
        self._deadline = self.since + hub.read_seconds
        self._then: Callable[[], None] | None = self._too_slow
        self._greets = self._greeted = self._eof = self._held_back = False
        self._dropped = 0

    @property
    def replied(self) -> bool:
        """Whether all of its reply has been passed to the transport."""
        return self.phase in (ConnectionPhase.REPLIED, ConnectionPhase.OVER)

    @property
    def unsent(self) -> int:
        """Bytes of its reply that the peer has not read."""
        return self.transport.get_write_buffer_size()

    # --- called by asyncio ---------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self.address = str(name[0]) if name else ""
        self.sender = sender_of(self.address)
        self._hub.took(self)

    def data_received(self, data: bytes) -> None:
        if self.phase is ConnectionPhase.READING:
            self._read(data)
        elif self.phase is ConnectionPhase.DIRECT:
            self.since = time.monotonic()
            assert self._handler is not None
            self._handler.data_received(data)
        elif self.phase is ConnectionPhase.ASKED:
            self._dropped += len(data)
            if self._dropped > _MAX_DROPPED:
                self.transport.pause_reading()  # the kernel holds back the rest

    def eof_received(self) -> bool:
        self._eof = True
        match self.phase:
            case ConnectionPhase.READING:
                self._read(b"", ended=True)
            case ConnectionPhase.ASKED:
                if self._greets:
                    self._greet()
            case ConnectionPhase.REPLIED if not self._held_back:
                self._end(delivered=True)
            case ConnectionPhase.DIRECT:
                return False
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and self.phase is not ConnectionPhase.OVER:
            self._hub.lost(str(exc) or type(exc).__name__)
        self._end(delivered=False)

    def pause_writing(self) -> None:
        self._held_back = True
        if self._handler is not None:
            self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._held_back = False
        if self._handler is not None:
            self._handler.resume_writing()
        if self.phase is ConnectionPhase.REPLIED:
            self._linger()

    # --- the message --------------------------------------------------------------------------------------
    def _read(self, data: bytes, ended: bool = False) -> None:
        reader, expected = self._reader, self._reader.expects
        try:
            if ended:
                reader.feed_eof()
                whole = True
            else:
                whole = reader.feed(data)
                if reader.expects and not expected:
                    self.transport.write(CONTINUE)
            if whole:
                self._ask()
        except ConnectionResetError as error:
            self._hub.lost(str(error))
            self._end(delivered=False)
        except Exception as error:  # a stranger's message must never stop the server
            self.reply(self._hub.refused(error))

    def _too_slow(self) -> None:
        seconds = self._hub.read_seconds
        self.reply(self._hub.refused(HttpError(408, f"no whole message within {seconds:g} s")))

    def _ask(self) -> None:
        request = self._reader.request()
        self._then = None
        self._handler = handler = self._hub.handler(request.stays)
        if request.stays:
            self.phase = ConnectionPhase.DIRECT
            handler.connection_made(_DirectTransport(self))
            handler.data_received(request.equivalent() + request.rest)
        else:
            self.phase, self.waits = ConnectionPhase.ASKED, True
            handler.connection_made(_ReplyTransport(self))
            handler.data_received(request.equivalent())

    # --- the reply ----------------------------------------------------------------------------------------
    def hold(self) -> None:
        """Wait for an answer that takes time. From now on aiohttp cancels the handler when the peer leaves.

        The end of the peer's bytes may mean that it has gone, or that it has closed only its sending side. So
        the first bytes of the reply are sent then: if the peer has gone, its computer answers with a reset.
        """
        self.waits = True
        self._greets = self.phase is ConnectionPhase.ASKED
        if self._eof and self._greets:
            self._greet()

    def _greet(self) -> None:
        if not self._greeted:
            self._greeted = True
            self.transport.write(GREETING)
            self._probe(0.02)

    def _probe(self, pause: float) -> None:
        if self.phase is not ConnectionPhase.ASKED:
            return
        connection = self.transport.get_extra_info("socket")
        if self.transport.is_closing() or connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self._hub.lost("the client has gone")
            self._end(delivered=False)
        else:
            asyncio.get_running_loop().call_later(pause, self._probe, min(2 * pause, 1.0))

    def reply(self, data: bytes) -> None:
        """Send a whole reply, and close so that the peer gets all of it.

        Closing a socket while unread input waits resets the connection, and the peer may lose the reply. So
        this closes the sending side first, then drops what the peer sends until it closes too.
        """
        if self.replied:
            return
        self.phase, self.waits, self.since = ConnectionPhase.REPLIED, False, time.monotonic()
        if self._dropped > _MAX_DROPPED:
            self.transport.resume_reading()
        self.transport.write(data.removeprefix(GREETING) if self._greeted else data)
        if self._held_back:
            self._wait(_TAKE_SECONDS, self._not_taken)
        else:
            self._linger()

    def _linger(self) -> None:
        if self._eof or self.transport.is_closing():
            # aiohttp's task may be the one running now.
            asyncio.get_running_loop().call_soon(self._end, self._eof)
            return
        self.transport.write_eof()
        self._wait(_LINGER_SECONDS, self._lingered)

    def _lingered(self) -> None:
        self._end(delivered=True)

    def _not_taken(self) -> None:
        self._hub.lost(TimeoutError.__name__)
        self._end(delivered=False)

    def put_off(self) -> None:
        """Close at once, to make room for others; a connection without a reply gets the reason."""
        delivered = self.replied
        if not delivered:
            reply = self._hub.crowded()
            if self.phase is not ConnectionPhase.DIRECT:
                self.transport.write(reply)
        self.transport.abort()
        self._end(delivered)

    def stream(self) -> None:
        """Send a reply without a fixed end piece by piece."""
        self.phase, self.waits = ConnectionPhase.DIRECT, False

    def _end(self, delivered: bool) -> None:
        if self.phase is ConnectionPhase.OVER:
            return
        self.phase, self.waits = ConnectionPhase.OVER, False
        self._then = None
        self._hub.forget(self)
        if delivered:
            self.transport.close()
        else:
            self.transport.abort()
        sent, self.sent = self.sent, None
        if sent is not None:
            sent(delivered)
        if self._handler is not None:
            self._handler.connection_lost(None)

    def close(self) -> None:
        """End the connection at once."""
        self._end(delivered=False)

    def check(self, now: float) -> None:
        """Do the work that is due at ``now`` (time.monotonic()). Call this regularly."""
        if self._then is not None and now > self._deadline:
            then, self._then = self._then, None
            then()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._deadline, self._then = time.monotonic() + seconds, then


class _DirectTransport(asyncio.Transport):
    """The transport that aiohttp writes to: the connection itself."""

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer = peer

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == PEER:
            return self._peer
        # aiohttp would set options of the socket that asyncio has set already.
        return default if name == "socket" else self._peer.transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._peer.transport.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._peer.since = time.monotonic()
        self._peer.transport.write(data)

    def close(self) -> None:
        self._peer.transport.close()

    def abort(self) -> None:
        self._peer.transport.abort()

    def pause_reading(self) -> None:
        self._peer.transport.pause_reading()

    def resume_reading(self) -> None:
        self._peer.transport.resume_reading()


class _ReplyTransport(_DirectTransport):
    """The transport that aiohttp writes one reply to: it passes it on in the peer's form. A reply without a
    length, a stream, is sent unchanged."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self._collected = b""
        self._head = b""
        self._missing = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._peer.phase is ConnectionPhase.DIRECT:
            super().write(data)
            return
        self._collected += data
        if not self._head:
            head, blank, body = self._collected.partition(b"\r\n\r\n")
            if not blank:
                return
            self._head, _, length = in_peers_form(head)
            if length is None:
                self._peer.stream()
                super().write(self._collected)
                return
            self._missing, self._collected = length, body
        if len(self._collected) >= self._missing:
            self._peer.reply(self._head + self._collected)

    def is_closing(self) -> bool:
        return self._peer.replied or super().is_closing()

    def close(self) -> None:
        if self._peer.phase in (ConnectionPhase.ASKED, ConnectionPhase.DIRECT):
            super().close()

    def pause_reading(self) -> None:
        """Note that the message has been read."""

    resume_reading = pause_reading


_BIG_MESSAGE = 32 * 1024
"""Messages longer than this are parsed in a thread, so that other connections go on."""


class Desk(Protocol):
    """The server that answers the messages of connections."""

    config: ServerConfig
    metrics: status.Metrics

    async def answer(self, message: Message, received: float, sender: str) -> str:
        """The reply to a message that came at ``received`` from ``sender``. Raises GdlError with the reason
        if there is none."""

    def status(self, here: bool) -> status.ServerStatus:
        """The contents of the status page, ``here`` or for other computers."""

    def news(self, here: bool) -> EventSource:
        """The events of the matches, for readers ``here`` or on other computers."""

    def match(self, match_id: str, sender: str) -> ServedMatch | None:
        """The match of this sender that is being played with this id."""


class MatchEndpoint:
    """Handles messages."""

    def __init__(self, desk: Desk, visitors: Visitors) -> None:
        self._desk = desk
        self._visitors = visitors
        self._waited_for: set[asyncio.Task[str]] = set()

    async def post(self, request: web.Request) -> web.Response:
        """A POST: its body is the message."""
        peer = peer_of(request)
        received = peer.since
        self._visitors.check_message(request.headers)
        if peer.phase is ConnectionPhase.DIRECT:
            text = await self._body(request)
        else:
            text = decoded(request.content.read_nowait()).strip()
        return await self._reply(peer, await self._parsed(text), received)

    async def get(self, request: web.Request) -> web.Response:
        """The reply to a GET that does not ask for a page. Links and pictures of any page are GETs, and some
        programs follow them on their own. So INFO is the only message that can be sent by GET."""
        peer = peer_of(request)
        self._visitors.check_message(request.headers)
        text = _asked_for(request)
        if text.strip("() ").lower() not in ("", "info"):  # a person's browser, or a health check
            self._count("unreadable")
            if "(" not in text:
                raise HttpError(404, "there is no such page")
            raise HttpError(405, "only INFO can be sent by GET", "send messages by POST")
        return await self._reply(peer, Info(), peer.since)

    async def options(self, request: web.Request) -> web.Response:
        """The reply to a browser's question before a page may send a message."""
        self._count("options")
        return reply("")

    async def close(self) -> None:
        """Stop answering."""
        for task in self._waited_for:
            task.cancel()
        if self._waited_for:
            await asyncio.wait(self._waited_for)

    async def _body(self, request: web.Request) -> str:
        """The body of a request that may still be arriving."""
        seconds = self._desk.config.read_seconds
        try:
            async with asyncio.timeout(seconds):
                return decoded(await request.read()).strip()
        except TimeoutError:
            raise HttpError(408, f"no whole message within {seconds:g} s") from None
        except web.RequestPayloadError:
            raise HttpError(400, "the body ends before its end") from None

    async def _parsed(self, text: str) -> Message:
        try:
            if len(text) > _BIG_MESSAGE:
                return await asyncio.to_thread(parse_message, text)
            return parse_message(text)
        except GdlError:
            self._count("unreadable")
            raise

    async def _reply(self, peer: Peer, message: Message, received: float) -> web.Response:
        kind = type(message).__name__.lower()
        self._count(kind)
        if isinstance(message, Start | Play | Preview):
            text = await self._wait(peer, message, received)
        else:
            text = await self._desk.answer(message, received, peer.sender)
        if isinstance(message, Start | Play):
            match = self._desk.match(message.match, peer.sender)
            if match is not None:
                self._note(peer, message, match, received)
        return reply(text)

    def _note(self, peer: Peer, message: Start | Play, match: ServedMatch, received: float) -> None:
        """Note the time an answer took, and later how it was sent."""
        play = isinstance(message, Play)
        clock = match.start.playclock if play else match.start.startclock
        match.margin.round_trip(round_trip(peer.transport.get_extra_info("socket")))
        share = (time.monotonic() - received) / max(clock, 1)
        self._desk.metrics.share.labels("play" if play else "start").observe(share)
        if isinstance(message, Play):
            if peer.phase is ConnectionPhase.DIRECT:
                match.sent(message, True)
            else:
                peer.sent = functools.partial(match.sent, message)

    async def _wait(self, peer: Peer, message: Message, received: float) -> str:
        """The reply to a message that may take time. This is cancelled if the client leaves before."""
        answer = asyncio.create_task(self._desk.answer(message, received, peer.sender))
        self._waited_for.add(answer)
        answer.add_done_callback(self._answered)
        peer.hold()
        try:
            await asyncio.wait([answer])
        finally:
            peer.waits = False
            if not answer.done() and isinstance(message, Play):
                # The match goes on. An answer to a START or PREVIEW is computed to its end.
                answer.cancel()
                match = self._desk.match(message.match, peer.sender)
                if match is not None:
                    match.sent(message, False)
        return answer.result()

    def _answered(self, answer: asyncio.Task[str]) -> None:
        self._waited_for.discard(answer)
        if not answer.cancelled():
            answer.exception()  # retrieve it: asyncio would log it otherwise

    def _count(self, kind: str) -> None:
        self._desk.metrics.requests.labels(kind).inc()


def reply(text: str, code: int = 200, content_type: str = CONTENT_TYPE) -> web.Response:
    """A reply with this text."""
    body = text.encode("utf-8", errors="replace")
    return web.Response(body=body, status=code, headers={"Content-Type": content_type})


def _asked_for(request: web.Request) -> str:
    """The request of a GET: a page's path without its first slash, or a message."""
    return unquote_plus(request.rel_url.raw_path[1:]).strip()


def peer_of(request: web.Request) -> Peer:
    """The connection of a request. Raises ConnectionResetError if it is closed."""
    if request.transport is None:
        raise ConnectionResetError("the client has gone")
    peer: Peer = request.transport.get_extra_info(PEER)
    return peer


Log = Callable[..., None]


def make_app(desk: Desk, visitors: Visitors, answers: MatchEndpoint, log: Log) -> web.Application:
    """The application. Any exception of a handler becomes a one-line error. Pages of allowed origins may read
    its replies."""
    app = web.Application(
        middlewares=[_careful(desk, visitors, log)], client_max_size=desk.config.max_body + 1
    )
    _add_pages(app, desk, visitors, answers)
    _add_messages(app, answers)
    return app


def _add_pages(app: web.Application, desk: Desk, visitors: Visitors, answers: MatchEndpoint) -> None:
    """The pages of a server."""

    def here(request: web.Request) -> bool:
        return is_here(peer_of(request).address, request.headers)

    async def root(request: web.Request) -> web.StreamResponse:
        accept = request.headers.get("accept", "")
        html = status.wants_html(accept)
        if not html and not status.wants_text(accept):
            return await answers.get(request)  # an old manager, or a health check: INFO
        visitors.check_page(request.headers)
        desk.metrics.requests.labels("status").inc()
        page = status.as_html if html else status.as_text
        return reply(
            page(desk.status(here(request))), 200, f"text/{'html' if html else 'plain'}; charset=utf-8"
        )

    async def counted(request: web.Request) -> web.StreamResponse:
        visitors.check_page(request.headers)
        desk.metrics.requests.labels("metrics").inc()
        return reply(desk.metrics.text(), 200, status.CONTENT_TYPE)

    async def events(request: web.Request) -> web.StreamResponse:
        visitors.check_message(request.headers)
        desk.metrics.requests.labels("events").inc()
        if not (here(request) or desk.config.open_events):
            raise HttpError(
                403,
                "only this computer may read the events of the matches",
                "start the server with --open-events",
            )
        return await desk.news(here(request)).stream(request)

    app.router.add_route("POST", "/", answers.post)
    app.router.add_get("/events", events, allow_head=False)
    app.router.add_get("/", root, allow_head=False)
    app.router.add_get("/metrics", counted, allow_head=False)


def _add_messages(app: web.Application, answers: MatchEndpoint) -> None:
    """Add the route for all other requests: each is a message, or an error."""
    everything = app.router.add_resource("/{message:.*}")
    everything.add_route("POST", answers.post)
    everything.add_route("GET", answers.get)
    everything.add_route("OPTIONS", answers.options)


def error_text(error: Exception, log: Log) -> tuple[str, int]:
    """The error text for a client, and its HTTP status."""
    match error:
        case web.HTTPMethodNotAllowed():
            error = HttpError(405, "only POST, GET and OPTIONS are spoken here")
        case web.HTTPRequestEntityTooLarge():
            error = HttpError(413, "the body is too long")
    if not isinstance(error, GdlError):
        # A stranger's request must never stop the server from serving others.
        log("error", "internal error", error=one_line(f"{type(error).__name__}: {error}"))
        return "error: internal error", 500
    code = error.status if isinstance(error, HttpError) else 400
    log("debug" if code == 404 else "warning", "bad request", status=code, error=one_line(f"{error}"))
    return f"error: {one_line(without_folders(str(error)))}", code


def _careful(desk: Desk, visitors: Visitors, log: Log) -> Middleware:
    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            found = await handler(request)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as error:
            found = reply(*error_text(error, log))
        if not found.prepared:
            origin = visitors.origin(request.headers)
            if origin:
                found.headers.update(rights(origin))
        desk.metrics.replies.labels(str(found.status)).inc()
        return found

    return answer


KEPT_SECONDS = 15.0
"""Seconds that a browser's connection stays open without a request."""
CLOSE_SECONDS = 1.0
"""Seconds that aiohttp may take to end."""
_QUIET = logging.getLogger("ggp.server.http")
_QUIET.disabled = True  # errors are logged as one line by the application


class Connections:
    """All connections of one server; each is a :class:`Peer`."""

    def __init__(self, desk: Desk, log: Callable[..., None]) -> None:
        self.read_seconds = desk.config.read_seconds
        self.max_body = desk.config.max_body
        self.listener = Listener(desk.config.limits)
        self._config = desk.config
        self._metrics = desk.metrics
        self._say = log
        visitors = Visitors(self._config.host, self._config.allow_origins, self._config.allow_hosts)
        self._answers = MatchEndpoint(desk, visitors)
        self._runner = web.AppRunner(
            make_app(desk, visitors, self._answers, log),
            handler_cancellation=True,
            shutdown_timeout=CLOSE_SECONDS,
        )

    async def open(self) -> None:
        """Listen. Raises GdlError if the address cannot be listened on."""
        await self._runner.setup()
        await self.listener.open(self._config.host, self._config.port, lambda: Peer(self))

    async def close(self) -> None:
        """End all connections."""
        self.listener.close()
        await self._answers.close()
        await self._runner.cleanup()

    # --- calls from connections ----------------------------------------------------------------------------
    def took(self, peer: Peer) -> None:
        """Note a new connection."""
        self.listener.took(peer)

    def handler(self, stays: bool) -> RequestHandler:
        """The HTTP handler for one connection, which may stay open for further requests."""
        assert self._runner.server is not None
        return RequestHandler(
            self._runner.server,
            loop=asyncio.get_running_loop(),
            keepalive_timeout=KEPT_SECONDS if stays else 0,
            lingering_time=CLOSE_SECONDS,
            tcp_keepalive=False,
            auto_decompress=False,
            logger=_QUIET,
            access_log=None,  # type: ignore[arg-type]
            # The dialect has read the head before and rewritten it: at most three bytes for each.
            max_line_size=4 * MAX_HEAD,
            max_field_size=MAX_HEAD,
            max_headers=MAX_HEAD,
        )

    def refused(self, error: Exception) -> bytes:
        """The whole reply to an invalid message."""
        text, code = error_text(error, self._say)
        self._metrics.replies.labels(str(code)).inc()
        return reply_bytes(text, code)

    def lost(self, error: str) -> None:
        """Note that a connection broke: reset, too slow, or half closed and gone."""
        self._say("debug", "connection lost", error=error)

    def forget(self, peer: Peer) -> None:
        """Forget a connection that is over."""
        self.listener.forget(peer)

    def crowded(self) -> bytes:
        """The whole reply to a connection that is closed to make room for others."""
        self._metrics.replies.labels("503").inc()
        return reply_bytes("error: too many connections", 503)

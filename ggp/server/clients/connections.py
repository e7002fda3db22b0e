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
import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import unquote_plus

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestHandler

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.log_lines import one_line
from ggp.protocol.dialect import CONTENT_TYPE, MAX_HEAD, decoded, reply_bytes, rights
from ggp.protocol.event_source import EventSource
from ggp.protocol.http_error import HttpError
from ggp.protocol.listener import Listener
from ggp.protocol.messages import Info, Message, Play, Preview, Start, parse_message
from ggp.server import status
from ggp.server.clients.peer import PEER, ConnectionPhase, Peer
from ggp.server.clients.visitors import Visitors, is_here
from ggp.server.margin import round_trip
from ggp.server.match import ServedMatch
from ggp.server.settings import ServerConfig

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
    """All connections of one server; each is a :class:`~ggp.server.clients.peer.Peer`."""

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

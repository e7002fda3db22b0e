"""The connections of a player's server: the handlers that read them, the replies to refused ones, and the
pages served by aiohttp: the status page, the metrics, and the match protocol.

A GET of ``/`` returns the status page if the client accepts HTML or plain text. ``/metrics`` returns the
counters for Prometheus. ``/events`` returns the events of the matches as server-sent events
(:mod:`ggp.server.match_news`), on this computer only unless the operator allows more. Everything else, POST
or GET, is a message. Routes that are added before :func:`_add_messages` take precedence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestHandler

from gdl.errors import GdlError
from gdl.visible import without_folders
from ggp.log_lines import one_line
from ggp.protocol.dialect import MAX_HEAD, reply_bytes, rights
from ggp.protocol.http_error import HttpError
from ggp.protocol.listener import Listener
from ggp.server import status
from ggp.server.clients.answers import Desk, MatchEndpoint, peer_of, reply
from ggp.server.clients.peer import Peer
from ggp.server.clients.visitors import Visitors, is_here

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

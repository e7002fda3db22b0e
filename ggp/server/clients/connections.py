"""The connections of a player's server: what reads them, and what those are told that are refused."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from ggp.protocol.dialect import MAX_HEAD, reply_bytes
from ggp.protocol.listener import Listener
from ggp.server.clients.answers import Desk, MatchEndpoint
from ggp.server.clients.pages import error_text, make_app
from ggp.server.clients.peer import Peer
from ggp.server.clients.visitors import Visitors

KEPT_SECONDS = 15.0
"""How long a browser's connection stays without a request."""
CLOSE_SECONDS = 1.0
"""How long aiohttp may take to end."""
_QUIET = logging.getLogger("ggp.server.http")
_QUIET.disabled = True  # what goes wrong is logged as one line by the application


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

    # --- what connections tell ------------------------------------------------------------------------------
    def took(self, peer: Peer) -> None:
        """A connection has come."""
        self.listener.took(peer)

    def handler(self, stays: bool) -> RequestHandler:
        """What reads HTTP for one connection, which may stay for further requests."""
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
            # The dialect has read the head before, and written it anew: at most three bytes for one.
            max_line_size=4 * MAX_HEAD,
            max_field_size=MAX_HEAD,
            max_headers=MAX_HEAD,
        )

    def refused(self, error: Exception) -> bytes:
        """The whole reply to a message that is none."""
        text, code = error_text(error, self._say)
        self._metrics.replies.labels(str(code)).inc()
        return reply_bytes(text, code)

    def lost(self, error: str) -> None:
        """A connection broke: reset, too slow, or half closed and gone."""
        self._say("debug", "connection lost", error=error)

    def forget(self, peer: Peer) -> None:
        """A connection is over."""
        self.listener.forget(peer)

    def crowded(self) -> bytes:
        """The whole reply to one that makes room for others."""
        self._metrics.replies.labels("503").inc()
        return reply_bytes("error: too many connections", 503)

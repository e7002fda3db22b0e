"""All connections of one server: how many there may be, and who makes room for others."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from ggp.protocol.dialect import MAX_HEAD, reply_bytes
from ggp.server.clients.answers import Desk, MatchEndpoint
from ggp.server.clients.pages import error_text, make_app
from ggp.server.clients.peer import Peer
from ggp.server.clients.visitors import Visitors

MOMENT = 0.02
"""Seconds after which a new connection makes others go."""
KEPT_SECONDS = 15.0
"""How long a browser's connection stays without a request."""
CLOSE_SECONDS = 1.0
"""How long aiohttp may take to end."""
TICK = 0.1
"""Seconds between two looks at the deadlines of connections."""
_QUIET = logging.getLogger("ggp.server.http")
_QUIET.disabled = True  # what goes wrong is logged as one line by the application


class Connections:
    """All connections of one server; each is a :class:`~ggp.server.clients.peer.Peer`."""

    def __init__(self, desk: Desk, log: Callable[..., None]) -> None:
        self.read_seconds = desk.config.read_seconds
        self.max_body = desk.config.max_body
        self._config = desk.config
        self._metrics = desk.metrics
        self._say = log
        self._clients: set[Peer] = set()
        visitors = Visitors(self._config.host, self._config.allow_origins)
        self._answers = MatchEndpoint(desk, visitors)
        self._runner = web.AppRunner(
            make_app(desk, visitors, self._answers, log),
            handler_cancellation=True,
            shutdown_timeout=CLOSE_SECONDS,
        )
        self._ticks: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """To be called before any connection comes."""
        await self._runner.setup()
        self._ticks = asyncio.create_task(self._check())

    def connect(self) -> Peer:
        """What reads a new connection."""
        return Peer(self)

    async def close(self) -> None:
        """End all connections."""
        if self._ticks is not None:
            self._ticks.cancel()
        for client in list(self._clients):
            client.close()
        await self._answers.close()
        await self._runner.cleanup()

    # --- what connections tell ------------------------------------------------------------------------------
    def took(self, peer: Peer) -> None:
        """A connection has come: where there are too many, others go."""
        self._clients.add(peer)
        if len(self._clients) > self._config.max_connections + self._config.backlog:
            self._make_room(peer.address)
        elif len(self._clients) > min(self._config.max_connections, self._config.max_per_address):
            # Of many that come at once, those are served first that have sent their message: in one round
            # of the event loop it is read, then others go.
            loop = asyncio.get_running_loop()
            loop.call_later(MOMENT, loop.call_soon, loop.call_soon, self._make_room, peer.address)

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
        self._clients.discard(peer)

    async def _check(self) -> None:
        """Have all connections look at their deadlines: a timer for each would cost more."""
        while True:
            await asyncio.sleep(TICK)
            now = time.monotonic()
            for client in list(self._clients):
                client.check(now)

    def _make_room(self, address: str) -> None:
        """Put off the client that has been silent longest, where there are too many: from the address of the
        newest or, with too many of all, from the one with most."""
        active = [client for client in self._clients if not client.waits]
        count = Counter(client.address for client in active)
        if count[address] <= self._config.max_per_address:
            if len(active) <= self._config.max_connections:
                return
            address = count.most_common(1)[0][0]
        oldest = min((c for c in active if c.address == address), key=lambda client: client.since)
        if not oldest.replied:
            self._metrics.replies.labels("503").inc()
        oldest.put_off(reply_bytes("error: too many connections", 503))

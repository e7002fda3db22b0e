"""The match protocol: a message comes in through aiohttp, its reply goes back.

The event loop's process only moves text.
"""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Protocol
from urllib.parse import unquote_plus

from aiohttp import web

from gdl.errors import GdlError
from ggp.protocol.dialect import CONTENT_TYPE, decoded
from ggp.protocol.event_source import EventSource
from ggp.protocol.http_error import HttpError
from ggp.protocol.messages import Info, Message, Play, Preview, Start, parse_message
from ggp.server import status
from ggp.server.clients.peer import PEER, ConnectionPhase, Peer
from ggp.server.clients.visitors import Visitors
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

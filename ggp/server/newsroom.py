"""`Newsroom`: serves the events of a program's matches, by ``GET /events`` on a port of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from ggp.protocol.event_source import EventSource, encode
from ggp.protocol.http_error import HttpError
from ggp.protocol.listener import cannot_listen
from ggp.protocol.messages import Start
from ggp.server.clients.visitors import Visitors
from ggp.server.match_news import MatchNews

HOST = "127.0.0.1"
GOODBYE_SECONDS = 0.3
"""Seconds that readers have for the last events."""


class Newsroom:
    """The news of all matches of one program, a game manager or a tournament, with the name ``name``. Use it
    within one event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._source = EventSource(self._snapshot)
        self._matches: dict[str, MatchNews] = {}

    def begin(
        self, match: str, rules: str, game: str, players: Sequence[str], clocks: tuple[float, float]
    ) -> MatchNews:
        """Begin the news of a match; clocks in seconds."""
        news = MatchNews(Start(match, "", rules, 0, 0), players, clocks)
        news.name = game
        news.publish = self._source.send
        self._matches[match] = news
        news.began()
        return news

    def end(self, match: str, why: str, goals: Sequence[int] = ()) -> None:
        """Publish the end of a match, if it is not yet published."""
        news = self._matches.pop(match, None)
        if news is not None:
            news.ended(why, " ".join(map(str, goals)))

    @asynccontextmanager
    async def open(self, port: int) -> AsyncIterator[int]:
        """Serve the events to programs of this computer while this is open; 0 picks a free port. Yields the
        port. Raises GdlError if it is taken."""
        app = web.Application()
        app.router.add_get("/events", self._events, allow_head=False)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, HOST, port).start()
            except OSError as error:
                raise cannot_listen(HOST, port, error, "--events") from None
            yield int(runner.addresses[0][1])
            if self._source.readers:
                await asyncio.sleep(GOODBYE_SECONDS)
        finally:
            await runner.cleanup()

    async def _events(self, request: web.Request) -> web.StreamResponse:
        visitors = Visitors(HOST)
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            visitors.check_message(headers)
            visitors.check_page(headers)
        except HttpError as error:
            return web.Response(status=error.status, text=f"error: {error}\n")
        return await self._source.stream(request)

    def _snapshot(self) -> list[bytes]:
        """The events for a new reader: the server and its matches."""
        live = [encode("match", news.snapshot()) for news in self._matches.values()]
        return [encode("server", {"name": self._name, "player": ""}), *live]

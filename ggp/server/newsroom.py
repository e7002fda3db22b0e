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
"""How long readers have for the last events."""


class Newsroom:
    """The news of all matches of one program, a game manager or a tournament; ``name`` says which. To be used
    within one event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._source = EventSource(self._known)
        self._matches: dict[str, MatchNews] = {}

    def begin(
        self, match: str, rules: str, game: str, players: Sequence[str], clocks: tuple[float, float]
    ) -> MatchNews:
        """A match begins; clocks in seconds."""
        news = MatchNews(Start(match, "", rules, 0, 0), players, clocks)
        news.name = game
        news.publish = self._source.send
        self._matches[match] = news
        news.began()
        return news

    def end(self, match: str, why: str, goals: Sequence[int] = ()) -> None:
        """A match is over, if it was not already."""
        news = self._matches.pop(match, None)
        if news is not None:
            news.ended(why, " ".join(map(str, goals)))

    @asynccontextmanager
    async def open(self, port: int) -> AsyncIterator[int]:
        """Tell them to programs of this computer while this is open; 0 picks a free port. Gives the port.
        Raises GdlError if it is taken."""
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

    def _known(self) -> list[bytes]:
        """What somebody who begins to look on is told."""
        live = [encode("match", news.told()) for news in self._matches.values()]
        return [encode("server", {"name": self._name, "player": ""}), *live]

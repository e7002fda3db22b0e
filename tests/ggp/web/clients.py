"""A client of the page's application, for tests that talk to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from ggp.web.app import make_app
from ggp.web.gate import TOKENS, WebSettings

Client = TestClient[web.Request, web.Application]


@asynccontextmanager
async def client_of(app: web.Application | None = None, **settings: Any) -> AsyncIterator[Client]:
    """A client of an application, or of the page's with these settings."""
    async with TestClient(TestServer(app or make_app(WebSettings(**settings)))) as client:
        yield client


def token_of(client: Client) -> dict[str, str]:
    """The header that posts of our pages have."""
    assert client.app is not None
    return {"X-Ggp-Token": client.app[TOKENS].make()}


class Listener:
    """Hears the events of an address from when it is first asked, and keeps all that was said."""

    def __init__(self, client: Client, address: str, key: str = "") -> None:
        self.client, self.address, self.key = client, address, key
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.reader: Any = None

    async def begin(self) -> None:
        self.reader = await self.client.get(self.address, params={"key": self.key} if self.key else {})

    async def until(
        self, event: str, done: Callable[[dict[str, Any]], bool] = lambda _: True
    ) -> dict[str, Any]:
        """The data of the next such event that will do."""
        if self.reader is None:
            await self.begin()
        async with asyncio.timeout(60):
            while True:
                text = (await self.reader.content.readuntil(b"\n\n")).decode().strip()
                name, _, data = text.removeprefix("event: ").partition("\ndata: ")
                if text.startswith("event: "):
                    self.heard.append((name, json.loads(data)))
                    if name == event and done(self.heard[-1][1]):
                        return self.heard[-1][1]

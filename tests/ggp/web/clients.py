"""A client of the page's application, for tests that talk to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from ggp.web.app import make_app
from ggp.web.gate import WebSettings

Client = TestClient[web.Request, web.Application]
Talk = Callable[[Client], Awaitable[None]]


def with_client(talk: Talk, settings: WebSettings | None = None) -> None:
    async def run() -> None:
        async with TestClient(TestServer(make_app(settings or WebSettings()))) as client:
            await talk(client)

    asyncio.run(run())

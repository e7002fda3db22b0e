"""A client of the page's application, for tests that talk to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
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

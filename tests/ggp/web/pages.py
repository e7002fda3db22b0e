"""Pages as tests ask for them: by a client of the application, or in a real browser."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from ggp.web.app import make_app
from ggp.web.gate import TOKENS, WebSettings
from tests.ggp.program import started

Client = TestClient[web.Request, web.Application]


@asynccontextmanager
async def client_of(app: web.Application | None = None, **settings: Any) -> AsyncIterator[Client]:
    """A client of an application, or of the page's with these settings."""
    async with TestClient(TestServer(app or make_app(WebSettings(**settings)))) as client:
        yield client


def token_of(client: Client) -> dict[str, str]:
    """The header that posts of our pages have."""
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


WebServer = Callable[..., str]
OPEN = """
const [path, order, done] = arguments;
const headers = {'X-Ggp-Token': document.querySelector('meta[name=token]').content};
fetch(path, {method: 'POST', headers, body: JSON.stringify(order)})
  .then((reply) => reply.json()).then((told) => done(told.page ?? told.error));
"""


def start_web(*words: str) -> tuple[subprocess.Popen[str], str]:
    """``ggp`` with these words, which serves pages, and the address that it tells."""
    server = started(*words, stderr=None)
    return server, server.stdout.readline().partition("open ")[2].partition(" ")[0].rstrip("/")


def end_web(server: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM) -> None:
    """End it, in order if by SIGTERM."""
    server.send_signal(number)
    assert server.wait(20) == (0 if number == signal.SIGTERM else -number)
    server.stdout.close()


def wait(browser: Any, script: str, seconds: float = 90.0) -> Any:
    """The value of a script, once it is one; what fails is tried again."""
    end = time.monotonic() + seconds
    while not (found := browser.execute_script(f"try {{ return {script} }} catch {{ return null }}")):
        assert time.monotonic() < end, script
        time.sleep(0.03)
    return found


def until(browser: Any, script: str, wanted: object) -> None:
    """Wait until a script has this value."""
    wait(browser, f"({script}) === {json.dumps(wanted)}")


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def order(browser: Any, address: str, path: str, **fields: object) -> None:
    """Post an order as pages do, and open the page that is the answer."""
    browser.get(f"{address}/play")
    browser.set_script_timeout(60)
    page = browser.execute_async_script(OPEN, path, fields)
    assert page.startswith("/"), page
    browser.get(address + page)


def open_table(browser: Any, address: str, game: str, seats: list[str], rules: str = "") -> None:
    """A table at which others move at random."""
    more = {"others": "random", "playclock": 0.1}
    order(browser, address, "/play/tables", game=game, rules=rules, seats=seats, **more)

"""Pages come with their protections; nothing is done for pages of other sites, or without a page's token."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest
from aiohttp import web

from ggp.protocol.event_source import BEHIND
from ggp.web.app import make_app
from ggp.web.gate import POLICY, Tokens, WebSettings
from ggp.web.rooms import rooms
from ggp.web.shell import Broadcast
from ggp.web.visits import fields, json_object
from tests.ggp.web.clients import Client, client_of, token_of


@pytest.fixture
def client(loop: asyncio.Runner) -> Iterator[Client]:
    """A client of an application that also echoes and fails."""

    async def echo(request: web.Request) -> web.Response:
        return web.json_response(json_object(request, fields()))

    async def broken(request: web.Request) -> web.Response:
        raise RuntimeError("/secret/path")

    app = make_app(WebSettings())
    app.router.add_post("/echo", echo)
    app.router.add_post("/api/echo", echo)
    app.router.add_get("/broken", broken)
    opened = client_of(app)
    yield loop.run(opened.__aenter__())
    loop.run(opened.__aexit__(None, None, None))


async def test_every_reply_forbids_what_pages_do_not_need(client: Client) -> None:
    for path in ("/", "/static/page.js", "/nowhere", "/broken"):
        reply = await client.get(path)
        assert reply.headers["Content-Security-Policy"] == POLICY
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert "secret" not in await reply.text()


async def test_a_page_carries_the_token_that_its_posts_need(client: Client) -> None:
    text = await (await client.get("/")).text()
    found = re.search('name="token" content="([^"]+)"', text)
    assert found is not None
    good = {"X-Ggp-Token": found[1]}
    assert (await client.post("/echo", json={}, headers=good)).status == 200
    for headers in (
        {},
        {"X-Ggp-Token": found[1][:-1]},
        {"X-Ggp-Token": "."},
        {"X-Ggp-Token": Tokens().make()},
    ):
        assert (await client.post("/echo", json={}, headers=headers)).status == 403


async def test_every_room_is_a_page_that_others_may_link_to_and_has_its_script_and_styles(
    client: Client,
) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    link = {**elsewhere, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for path, title in [(room.path, room.title) for room in rooms().values() if room.path]:
        reply = await client.get(path, headers=link)
        text = await reply.text()
        assert reply.status == 200, f"{path}: add its page by ggp.web.shell.add_page ({text})"
        assert f'<a href="{path}" aria-current=page>{title}</a>' in text
        assert (await client.get(path, headers=elsewhere)).status == 403
        files = re.findall(r'rel="stylesheet" href="([^"]+)"', text)
        files += [f"/static/{name}" for name in re.findall('data-module="([^"]+)"', text)]
        for file in files:
            assert (await client.get(file)).status == 200, f"{path} needs {file}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "rebound.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
async def test_pages_of_other_sites_get_nothing_done(client: Client, headers: dict[str, str]) -> None:
    token = token_of(client)
    for path in ("/echo", "/api/echo"):
        assert (await client.post(path, json={}, headers={**headers, **token})).status == 403


async def test_tools_that_are_no_browsers_need_no_token_for_the_api(client: Client) -> None:
    assert (await client.post("/api/echo", json={})).status == 200
    assert (await client.post("/api/echo", json={}, headers={"Sec-Fetch-Site": "same-origin"})).status == 403


async def test_readers_get_the_greeting_and_what_is_sent_and_a_slow_one_loses_the_oldest() -> None:
    news = Broadcast(lambda: [b"event: hello\ndata: 0\n\n"])
    app = web.Application()
    app.router.add_get("/events", news.stream)
    async with client_of(app) as client:
        async with client.get("/events") as reply:
            assert await reply.content.readuntil(b"\n\n") == b"event: hello\ndata: 0\n\n"
            for number in range(2 * BEHIND):
                news.send("step", number)
            assert await reply.content.readuntil(b"\n\n") == b"event: step\ndata: %d\n\n" % BEHIND
            assert news.readers == 1
        for _ in range(100):
            news.send("step", "x" * 100_000)
            await asyncio.sleep(0.01)
            if not news.readers:
                return
        raise AssertionError("a reader that has gone is still sent events")

"""Pages come with their protections; nothing is done for pages of other sites, or without a page's token."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from ggp.protocol.event_source import BEHIND
from ggp.web.app import make_app
from ggp.web.gate import POLICY, TOKENS, Tokens, WebSettings
from ggp.web.rooms import rooms
from ggp.web.shell import Broadcast
from ggp.web.visits import fields, json_object

Talk = Callable[["TestClient[web.Request, web.Application]"], Awaitable[None]]


def with_client(talk: Talk) -> None:
    async def run() -> None:
        app = make_app(WebSettings())

        async def echo(request: web.Request) -> web.Response:
            return web.json_response(json_object(request, fields()))

        async def broken(request: web.Request) -> web.Response:
            raise RuntimeError("/secret/path")

        app.router.add_post("/echo", echo)
        app.router.add_post("/api/echo", echo)
        app.router.add_get("/broken", broken)
        async with TestClient(TestServer(app)) as client:
            await talk(client)

    asyncio.run(run())


def test_every_reply_forbids_what_pages_do_not_need() -> None:
    async def talk(client: TestClient[web.Request, web.Application]) -> None:
        for path in ("/", "/static/page.js", "/nowhere", "/broken"):
            reply = await client.get(path)
            assert reply.headers["Content-Security-Policy"] == POLICY
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            assert "secret" not in await reply.text()

    with_client(talk)


def test_a_page_carries_the_token_that_its_posts_need() -> None:
    async def talk(client: TestClient[web.Request, web.Application]) -> None:
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

    with_client(talk)


def test_every_room_is_a_page_that_others_may_link_to_and_has_its_script_and_styles() -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    link = {**elsewhere, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}

    async def talk(client: TestClient[web.Request, web.Application]) -> None:
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

    with_client(talk)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "rebound.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_pages_of_other_sites_get_nothing_done(headers: dict[str, str]) -> None:
    async def talk(client: TestClient[web.Request, web.Application]) -> None:
        assert client.app is not None
        token = {"X-Ggp-Token": client.app[TOKENS].make()}
        for path in ("/echo", "/api/echo"):
            assert (await client.post(path, json={}, headers={**headers, **token})).status == 403

    with_client(talk)


def test_tools_that_are_no_browsers_need_no_token_for_the_api() -> None:
    async def talk(client: TestClient[web.Request, web.Application]) -> None:
        assert (await client.post("/api/echo", json={})).status == 200
        assert (
            await client.post("/api/echo", json={}, headers={"Sec-Fetch-Site": "same-origin"})
        ).status == 403

    with_client(talk)


def test_readers_get_the_greeting_and_what_is_sent_and_a_slow_one_loses_the_oldest() -> None:
    async def run() -> None:
        news = Broadcast(lambda: [b"event: hello\ndata: 0\n\n"])
        app = web.Application()
        app.router.add_get("/events", news.stream)
        async with TestClient(TestServer(app)) as client:
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

    asyncio.run(run())

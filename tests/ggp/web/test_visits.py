"""Connections to ggp web: those that are idle make room for others, and every byte has an answer."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter

import pytest
from aiohttp import web

from ggp.web import visits
from ggp.web.app import make_app
from ggp.web.gate import WebSettings
from ggp.web.visits import HELD
from tests.ggp.server.live import talk
from tests.ggp.web.browsing import WebServer
from tests.ggp.web.clients import Client, client_of, token_of

PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
MANY = WebSettings().limits.most_per_address + 100


def port_of(web: WebServer) -> int:
    return int(web().rpartition(":")[2])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1\r\nHo",
        b"POST /api/state HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{",
        b"GET /watch/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["silent", "half a head", "half a body", "readers"],
)
def test_idle_connections_make_room_for_others(web: WebServer, data: bytes) -> None:
    port = port_of(web)
    with contextlib.ExitStack() as stack:
        silent = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
        for _ in range(MANY):
            peer = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            with contextlib.suppress(ConnectionError):
                peer.sendall(data)
        for _ in range(3):
            assert talk(port, PAGE).startswith(b"HTTP/1.1 200 ")
        if not data:
            reply = silent.recv(4096)
            assert reply.startswith(b"HTTP/1.1 503 ") and b"Retry-After: " in reply
            assert reply.endswith(b'{"error":"too many connections"}')


@pytest.mark.parametrize(
    "head",
    [
        b"X-Ggp-Token: \xff\xfe.\xff",
        b"X-Ggp-Token: a.\xc3\xa9",
        b"Origin: \xff",
        b"Host: \xff",
        b"Content-Type: text/\xff",
        b"Expect: \xff",
        b"Content-Encoding: gzip",
        b"Sec-Fetch-Site: \xff\xff",
    ],
)
def test_bytes_of_headers_that_are_no_text_are_a_fault_of_the_request(web: WebServer, head: bytes) -> None:
    for line in (b"POST /rules/check", b"POST /api/state", b"GET /rules"):
        request = line + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n" + head
        status = int(talk(port_of(web), request + b"\r\n\r\n{}").split()[1])
        assert status == 200 or 400 <= status < 500


async def test_bodies_that_wait_for_their_answers_are_bounded_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "MOST_HELD", 3500)
    statuses = Counter[int]()
    app = make_app(WebSettings())
    arrived, over = asyncio.Event(), asyncio.Event()

    async def slow(request: web.Request) -> web.Response:
        arrived.set()
        await over.wait()
        return web.Response()

    app.router.add_post("/slow", slow)
    async with client_of(app) as client:
        headers = token_of(client)

        async def post() -> None:
            async with client.post("/slow", data=b"x" * 1000, headers=headers) as reply:
                statuses[reply.status] += 1

        asking = [asyncio.create_task(post()) for _ in range(5)]
        async with asyncio.timeout(30):
            while statuses[503] < 2:
                await asyncio.sleep(0.01)
        assert app[HELD].size == 3000
        over.set()
        await asyncio.gather(*asking)
        assert app[HELD].size == 0
        await post()
    assert statuses == {503: 2, 200: 4}


@pytest.mark.parametrize("path", ["/play/tables", "/puzzles", "/packings", "/choice", "/rules/check"])
async def test_no_room_takes_a_field_without_a_bound(client: Client, path: str) -> None:
    headers = token_of(client)
    for name in ("game", "rules", "title", "name", "data", "text", "facts", "solver", "others"):
        told = {"game": "tictactoe", "text": "", "facts": "", name: "x" * 2_050_000}
        async with client.post(path, json=told, headers=headers) as reply:
            error = (await reply.json()).get("error", "")
            assert reply.status in (400, 413) or name not in error, (name, error)
            if f"{name} has" in error:
                return
    raise AssertionError("no field is named as too long")

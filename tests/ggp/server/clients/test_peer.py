"""One connection in front of aiohttp: browsers that stay, streams, peers that go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from ggp.protocol.dialect import reply_bytes
from ggp.server.clients.connections import PEER, Connections, Peer

STAYS = b"GET /%s HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n"


class Porter:
    """Whom connections tell: an application of three routes."""

    read_seconds = 5.0
    max_body = 1000

    def __init__(self) -> None:
        self.peers: list[Peer] = []
        self.ended: list[str] = []
        app = web.Application()
        app.router.add_get("/stream", self.stream)
        app.router.add_get("/slow", self.slow)
        app.router.add_route("*", "/{rest:.*}", self.echo)
        self.runner = web.AppRunner(app, handler_cancellation=True)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await reply.prepare(request)
        for number in range(3):
            await reply.write(b"data: %d\n\n" % number)
            await asyncio.sleep(0)
        return reply

    async def slow(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.get_extra_info(PEER).hold()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        return web.Response()

    async def echo(self, request: web.Request) -> web.Response:
        return web.Response(text=request.path + "|" + await request.text())

    def took(self, peer: Peer) -> None:
        self.peers.append(peer)

    def handler(self, stays: bool) -> RequestHandler:
        assert self.runner.server is not None
        handler = self.runner.server()
        assert isinstance(handler, RequestHandler)
        return handler

    def refused(self, error: Exception) -> bytes:
        return reply_bytes(f"error: {error}", 400)

    def lost(self, error: str) -> None:
        self.ended.append(error)

    def forget(self, peer: Peer) -> None:
        self.peers.remove(peer)


Client = tuple[Porter, asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected() -> AsyncIterator[Client]:
    porter = Porter()
    await porter.runner.setup()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Peer(cast(Connections, porter)), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    try:
        yield porter, reader, writer
    finally:
        writer.close()
        server.close()
        for peer in list(porter.peers):
            peer.close()
        await porter.runner.cleanup()


@pytest.fixture
def connection(loop: asyncio.Runner) -> Iterator[Client]:
    begun = connected()
    yield loop.run(begun.__aenter__())
    loop.run(begun.__aexit__(None, None, None))


async def test_a_browser_asks_again_on_the_same_connection(connection: Client) -> None:
    porter, reader, writer = connection
    writer.write(STAYS % b"one" + STAYS % b"two")
    for path in (b"/one|", b"/two|"):
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert await reader.readexactly(len(path)) == path
    writer.write(b"POST /three HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
    assert (await reader.readuntil(b"|")).endswith(b"/three|")
    assert await reader.readexactly(2) == b"hi"
    assert len(porter.peers) == 1


@pytest.mark.parametrize("head", [b"HTTP/1.0\r\n", b"HTTP/1.1\r\nHost: x\r\n", None])
async def test_a_stream_goes_out_piece_by_piece(connection: Client, head: bytes | None) -> None:
    _, reader, writer = connection
    writer.write(STAYS % b"stream" if head is None else b"GET /stream " + head + b"\r\n")
    came = await reader.readuntil(b"data: 2\n\n")
    assert came.startswith(b"HTTP/1.0" if head and b"1.0" in head else b"HTTP/1.1")
    assert (b"chunked" in came) == (head is None or b"1.1" in head)
    if head is not None:
        assert len(await reader.read()) < 20


@pytest.mark.parametrize("first", [STAYS % b"slow", b"GET /slow HTTP/1.0\r\n\r\n"])
async def test_an_answer_for_a_client_that_has_gone_is_cancelled(connection: Client, first: bytes) -> None:
    porter, _, writer = connection
    writer.write(first)
    while not porter.peers or not porter.peers[0].waits:
        await asyncio.sleep(0.01)
    writer.transport.abort()
    while "cancelled" not in porter.ended:
        await asyncio.sleep(0.01)
    assert not porter.peers


async def test_the_reply_is_noted_as_delivered_once_the_peer_has_closed(connection: Client) -> None:
    porter, reader, writer = connection
    noted: list[bool] = []
    while not porter.peers:
        await asyncio.sleep(0)
    porter.peers[0].sent = noted.append
    writer.write(b"POST / HTTP/1.0\r\n\r\n( INFO )")
    assert (await reader.read()).endswith(b"/|( INFO )")
    assert not noted
    writer.close()
    while not noted:
        await asyncio.sleep(0.01)
    assert noted == [True]

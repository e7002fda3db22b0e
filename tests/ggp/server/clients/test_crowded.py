"""Connections that are abandoned, idle or many keep nobody else from being answered."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from bench.serving import post
from ggp.protocol.dialect import reply_bytes
from ggp.protocol.listener import ListenLimits
from ggp.protocol.messages import Start
from ggp.server.clients.connections import PEER, Connections, Peer
from ggp.server.settings import MOST_WAITING, ServerConfig
from tests.ggp.server.live import LiveServer, Serve, start
from tests.waiting import until

PLAY = post(b"( PLAY m1 NIL )")
LEGAL = ("(Mark 1 1)", "(Mark 2 2)")


@contextlib.contextmanager
def opened(server: LiveServer, data: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Connections that have sent this and wait."""
    with contextlib.ExitStack() as stack:
        peers = []
        for _ in range(count):
            peers.append(
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            )
            peers[-1].sendall(data)
        yield peers


def body(peer: socket.socket) -> str:
    """The reply that comes in the end."""
    data = b""
    while chunk := peer.recv(4096):
        data += chunk
    return data.partition(b"\r\n\r\n")[2].decode()


def clients(server: LiveServer) -> int:
    return len(server.server._connections.listener.guests)


@pytest.fixture
def thinking(serve: Serve) -> LiveServer:
    """A server of which a match waits for a PLAY; the player takes all of its time."""
    server = serve(player="slow_players:Sleeper")
    server.warm()
    assert server.say(start(startclock=2, playclock=40)) == "ready"
    return server


@pytest.mark.slow
@pytest.mark.parametrize("how", ["closed", "half-closed", "silent"])
def test_abandoned_plays_lock_nobody_out(thinking: LiveServer, how: str) -> None:
    with opened(thinking, PLAY, 100) as peers:
        for peer in peers:
            if how == "closed":
                peer.close()
            elif how == "half-closed":
                peer.shutdown(socket.SHUT_WR)
        until(lambda: thinking.server.running[0]._turn is not None)
        assert "( status busy )" in thinking.say("( INFO )")
        until(lambda: clients(thinking) <= (0 if how == "closed" else MOST_WAITING))
        assert not thinking.server.running[0]._turn.answered  # type: ignore[union-attr]
        assert thinking.say("( ABORT m1 )") == "aborted"


def test_half_closed_clients_stay_served_and_the_first_and_last_of_a_turn_wait_for_its_answer(
    serve: Serve,
) -> None:
    server = serve(player="slow_players:Punctual", margin=1.0).begun(playclock=4)
    with opened(server, PLAY, 1) as (first,):
        first.shutdown(socket.SHUT_WR)
        until(lambda: clients(server) == 1)
        with opened(server, PLAY, 2 * MOST_WAITING) as others:
            assert first.recv(9) == b"HTTP/1.0 ", "so that a client that has gone is seen"
            for other in others[: MOST_WAITING + 1]:
                assert body(other) in LEGAL
            match = server.server.running[0]
            assert match._turn is not None and not match._turn.answered
            assert body(first) == LEGAL[1]
            assert [body(other) for other in others[MOST_WAITING + 1 :]] == [LEGAL[1]] * (MOST_WAITING - 1)


def test_a_reply_begun_early_is_the_same_in_the_end(serve: Serve) -> None:
    server = serve(player="slow_players:Punctual", margin=1.0).begun(playclock=4)
    answers: list[bytes] = []
    thread = threading.Thread(target=lambda: answers.append(server.raw(PLAY)))
    thread.start()
    half_closed = server.raw(PLAY, half_close=True)
    thread.join()
    assert answers == [half_closed]
    assert half_closed.startswith(b"HTTP/1.0 200 OK\r\n")


def test_a_turn_whose_client_has_gone_was_not_delivered(thinking: LiveServer) -> None:
    match = thinking.server.running[0]
    with opened(thinking, PLAY, 1):
        until(lambda: match._turn is not None)
    until(lambda: match._turn is not None and not match._turn.delivered)


def test_a_start_whose_client_has_gone_goes_on(serve: Serve) -> None:
    server = serve()
    with opened(server, post(start().encode()), 1):
        until(lambda: bool(server.server.running))
    until(lambda: clients(server) == 0)
    assert server.say(start()) == "ready"


def test_those_who_send_nothing_make_room_for_those_who_do(serve: Serve) -> None:
    server = serve(limits=ListenLimits(16, 8))
    with opened(server, b"POST / HTTP/1.0\r\n", 40) as peers:
        assert "available" in server.say("( INFO )")
        assert body(peers[0]) == "error: too many connections"
        until(lambda: clients(server) <= 9)


def test_the_address_with_most_connections_makes_room(serve: Serve) -> None:
    server = serve(limits=ListenLimits(6, 100))
    with opened(server, b"P", 1) as (ours,), contextlib.ExitStack() as stack:
        ours.sendall(b"OST / HTTP/1.0\r\n")
        until(lambda: clients(server) == 1)
        for _ in range(12):
            source = ("127.0.0.2", 0)
            address = ("127.0.0.1", server.port)
            stack.enter_context(socket.create_connection(address, timeout=30, source_address=source))
        until(lambda: clients(server) == 6)
        ours.sendall(b"\r\n( INFO )")
        assert "available" in body(ours)


def test_clocks_are_cut_and_a_match_without_messages_has_an_end(serve: Serve) -> None:
    server = serve(longest_clock=40).begun(startclock=7 * 86400, playclock=404_800)
    match = server.server.running[0]
    assert (match.start.startclock, match.start.playclock) == (40, 40)
    assert server.say(start(startclock=7 * 86400, playclock=404_800)) == "ready", "it is sent again"
    assert isinstance(match.start, Start)


@pytest.mark.parametrize(
    ("clocks", "seconds"), [((60, 10), 115), ((600, 600), 3605), ((3600, 3600), 7205), ((9000, 1), 9005)]
)
def test_idle_time_has_a_bound(clocks: tuple[int, int], seconds: int) -> None:
    assert ServerConfig().idle_seconds(*clocks) == seconds


# --- One connection in front of aiohttp: browsers that stay, streams, peers that go
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

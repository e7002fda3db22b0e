"""Servers stay within their limits, and ask others without being led anywhere."""

from __future__ import annotations

import asyncio
import gzip
import socket
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.protocol import listener as listeners
from ggp.protocol.address import Address
from ggp.protocol.asking import events, post
from ggp.protocol.http_error import HttpError
from ggp.protocol.listener import STUCK_SECONDS, Listener, ListenLimits
from ggp.server.newsroom import Newsroom


class FakeGuest:
    """A connection that notes how it ends."""

    def __init__(self, listener: Listener, address: str, since: float, waits: bool) -> None:
        self.address, self.since, self.waits = address, since, waits
        self.unsent = 0
        self._listener = listener

    def put_off(self) -> None:
        assert not self.waits
        self.close()

    def check(self, now: float) -> None:
        """Nothing is due."""

    def close(self) -> None:
        self._listener.forget(self)


async def a_moment() -> None:
    """Until the listener has made room: on a busy machine its timer and this one are due at the same time."""
    await asyncio.sleep(2 * listeners.MOMENT)
    for _ in range(9):
        await asyncio.sleep(0)


@given(
    coming=st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60),
    most=st.integers(1, 20),
    per_address=st.integers(1, 20),
)
def test_there_are_never_more_idle_ones_than_allowed(
    coming: list[tuple[str, bool]], most: int, per_address: int
) -> None:
    async def run() -> None:
        listener = Listener(ListenLimits(most, per_address, 1000))
        for since, (address, waits) in enumerate(coming):
            listener.took(FakeGuest(listener, address, float(since), waits))
        await a_moment()
        idle = Counter(guest.address for guest in listener.guests if not guest.waits)
        assert sum(idle.values()) <= max(most, 1)
        assert all(number <= per_address for number in idle.values())
        assert sum(guest.waits for guest in listener.guests) == sum(waits for _, waits in coming)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listeners, "MOMENT", 0.001)  # each example waits for it
        asyncio.run(run())


async def test_the_newest_of_many_idle_ones_stays() -> None:
    listener = Listener(ListenLimits(5, 3, 1000))
    guests = [FakeGuest(listener, "a", float(number), False) for number in range(40)]
    for guest in guests:
        listener.took(guest)
    await a_moment()
    assert listener.guests == set(guests[-3:])


@given(sizes=st.lists(st.integers(0, 100), max_size=20), most=st.integers(1, 200))
def test_what_is_unsent_has_a_bound(sizes: list[int], most: int) -> None:
    listener = Listener(ListenLimits(unsent=most))
    for size in sizes:
        guest = FakeGuest(listener, "a", 0.0, False)
        guest.unsent = size
        listener.guests.add(guest)
    listener.end_stuck(0.0)
    left = [guest.unsent for guest in listener.guests]
    assert sum(left) <= most
    assert len(left) == len(sizes) or not left or sum(sizes) > most


def test_who_takes_nothing_goes_and_who_takes_a_little_stays() -> None:
    listener = Listener(ListenLimits())
    stuck, slow = (FakeGuest(listener, "a", 0.0, False) for _ in range(2))
    listener.guests |= {stuck, slow}
    stuck.unsent = slow.unsent = 1000
    for second in range(2 * int(STUCK_SECONDS)):
        slow.unsent -= 1
        listener.end_stuck(float(second))
    assert listener.guests == {slow}


def test_why_an_address_cannot_be_listened_on_is_said_with_what_to_do() -> None:
    async def ask(host: str, port: int) -> str:
        with pytest.raises(GdlError) as caught:
            await Listener(ListenLimits()).open(host, port, asyncio.Protocol)
        return str(caught.value)

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert asyncio.run(ask("127.0.0.1", port)) == (
            f"cannot listen on 127.0.0.1:{port}: another program listens there"
            " (choose another --port; 0 takes a free one)"
        )
    for host in ("300.1.1.1", "no such", "a" * 80, "::1::2"):
        assert f"cannot listen on {host}:0: there is no such address (choose 127.0.0.1" in asyncio.run(
            ask(host, 0)
        )
    assert "this is not an address of this computer (choose 127.0.0.1" in asyncio.run(ask("192.0.2.1", 0))


@pytest.mark.parametrize(
    "request_", ["GET /events HTTP/1.1", "GET / HTTP/1.1", "NO HTTP", "GET / HTTP/9.9", "GET /\x01 HTTP/1.1"]
)
def test_no_reply_tells_versions(request_: str) -> None:
    async def ask() -> bytes:
        async with Newsroom("t").open(0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{request_}\r\nHost: localhost:{port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            writer.close()
            return head

    head = asyncio.run(ask()).lower()
    assert b"server: kaskade\r\n" in head
    assert b"aiohttp" not in head and b"python" not in head


@pytest.mark.parametrize("module", ["ggp.server.server", "ggp.server.newsroom", "ggp.web.app"])
def test_every_server_listens_so(module: str) -> None:
    code = f"import {module}, aiohttp.web_response as w; print(w.SERVER_SOFTWARE)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "kaskade\n"


# --- A server that is asked leads nowhere else, and what it sends is neither unpacked nor unbounded
LONGEST = 64 * 1024
BOMB = gzip.compress(b"data: " + bytes(50_000_000))
EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


async def told(reply: bytes, endless: bytes = b"") -> tuple[str, str]:
    """What becomes of a message, and of events, where a server answers with these bytes, and perhaps with
    others for ever."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        try:
            while endless:
                writer.write(endless)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def line(place: Address) -> str:
        async with events(place, 5.0, LONGEST) as lines:
            return (await lines.readline()).decode()

    async def outcome(asked: Awaitable[str]) -> str:
        try:
            return await asked
        except (HttpError, OSError, ValueError) as error:
            return f"{type(error).__name__}: {error}"

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    place = Address("127.0.0.1", server.sockets[0].getsockname()[1])
    async with server:
        return await outcome(post(place, "( INFO )", "x", 20.0)), await outcome(line(place))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_lead_nowhere(status: int) -> None:
    async def ask() -> tuple[tuple[str, str], int]:
        visits = 0

        def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal visits
            visits += 1
            writer.close()

        other = await asyncio.start_server(visited, "127.0.0.1", 0)
        async with other:
            port = other.sockets[0].getsockname()[1]
            head = (
                f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{port}/\r\nContent-Length: 0\r\n\r\n"
            )
            return await told(head.encode()), visits

    (message, listened), visits = asyncio.run(ask())
    assert f"answers {status}" in message
    assert f"answers {status}" in listened
    assert visits == 0


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_nothing_is_unpacked(encoding: str) -> None:
    head = f"{EVENTS}Content-Encoding: {encoding}\r\nContent-Length: {len(BOMB)}\r\n\r\n"
    tracemalloc.start()
    message, listened = asyncio.run(told(head.encode() + BOMB))
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    assert message.startswith("HttpError") and listened.startswith("HttpError: answers 200 text/event-stream")


@pytest.mark.parametrize(
    ("head", "endless"),
    [
        (EVENTS + "\r\n", b"x" * 65536),
        (EVENTS, b"X-More: x\r\n" * 1000),
        (EVENTS + "X-Long: ", b"x" * 65536),
        ("", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (EVENTS + "Transfer-Encoding: chunked\r\n\r\n", b"10;" + b"x" * 65536),
    ],
    ids=["body", "headers", "header", "replies", "chunk"],
)
def test_what_has_no_end_is_cut(head: str, endless: bytes) -> None:
    tracemalloc.start()
    message, listened = asyncio.run(told(head.encode(), endless))
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()
    assert "Error" in message and "Error" in listened


def test_the_client_tells_no_versions() -> None:
    async def ask(asked: Callable[[Address], Awaitable[object]]) -> bytes:
        heads = []

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heads.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.0 200 OK\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(note, "127.0.0.1", 0) as server:
            await asked(Address("127.0.0.1", server.sockets[0].getsockname()[1]))
        return bytes(heads[0]).lower()

    async def listen(place: Address) -> None:
        with pytest.raises(HttpError):
            async with events(place, 5.0, LONGEST):
                pass

    for asked in (listen, lambda place: post(place, "( INFO )", "x", 5.0)):
        head = asyncio.run(ask(asked))
        assert b"aiohttp" not in head and b"python" not in head

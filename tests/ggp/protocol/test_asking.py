"""A server that is asked leads nowhere else, and what it sends is neither unpacked nor unbounded."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import Awaitable, Callable

import pytest

from ggp.protocol.address import Address
from ggp.protocol.asking import events, post
from ggp.protocol.http_error import HttpError

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

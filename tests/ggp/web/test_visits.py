"""Many visitors: connections, work and lists that are slow to make have bounds, and others are answered."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from aiohttp import web

from ggp.answers import catalogue
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.web import cached_lists, visits
from ggp.web.app import end_greediest, make_app, memory_of
from ggp.web.cached_lists import CachedList
from ggp.web.gate import WebSettings
from ggp.web.rooms import rooms
from ggp.web.visits import HELD
from tests.ggp.server.live import talk
from tests.ggp.web.browsing import WebServer
from tests.ggp.web.clients import Client, client_of, token_of
from tests.places import SOURCES

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


# --- When all work for strangers takes too much memory, the greediest ends, and nothing else
MIB = 1024**2
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
HOLD = """
import subprocess, sys, time
held = bytearray({own} * 2**20)
if {below}:
    subprocess.Popen([sys.executable, "-c", "import time; held = bytearray({below} * 2**20); time.sleep(60)"])
print(flush=True)
time.sleep(60)
"""


@contextmanager
def holding(own: int, below: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds so many MiB, and one that it has started."""
    command = [sys.executable, "-c", HOLD.format(own=own, below=below)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
        process.stdout.close()


async def nothing() -> None:
    """Ends what has ended."""


def budget_of(memory: int, *held: tuple[int, int]) -> WorkBudget:
    """A budget of so many MiB in which processes have reserved MiB."""
    budget = WorkBudget(8, 2**40)

    async def run() -> None:
        for pid, need in held:
            (await budget.reserve("work", WorkNeed(1, need * MIB), lambda: False, nothing)).pid = pid

    asyncio.run(run())
    budget.memory = memory * MIB
    return budget


@LINUX
def test_a_process_counts_with_all_that_it_has_started() -> None:
    with holding(20, 60) as process, holding(10) as other:
        end = time.monotonic() + 30
        while (taken := memory_of([process.pid, other.pid], {}))[process.pid] < 80 * MIB:
            assert time.monotonic() < end, taken
            time.sleep(0.1)
        assert 10 * MIB < taken[other.pid] < 60 * MIB


@LINUX
def test_the_one_furthest_above_its_reservation_ends() -> None:
    with holding(90) as greedy, holding(100) as modest:
        held = ((greedy.pid, 10), (modest.pid, 95))
        taken = memory_of([greedy.pid, modest.pid], {})
        assert end_greediest(budget_of(1000, *held), taken) == 0
        assert end_greediest(budget_of(150, *held), taken) == greedy.pid
        assert greedy.wait(10) == -9
        assert modest.poll() is None


def test_what_the_processes_of_all_rooms_run_is_loaded_before_they_are_forked() -> None:
    kinds = {name for path in SOURCES for name in re.findall(r'WorkKind\(\s*"([\w.]+)"', path.read_text())}
    assert "ggp.web.rules_process" in kinds
    assert kinds <= {name for room in rooms().values() for name in room.processes}


@LINUX
def test_the_greediest_ends_where_the_servers_own_process_takes_what_is_left() -> None:
    with holding(1) as greedy, holding(1) as modest:
        budget = budget_of(100, (greedy.pid, 20), (modest.pid, 20))
        taken = {greedy.pid: 30 * MIB, modest.pid: 20 * MIB}
        assert end_greediest(budget, taken) == 0
        budget.own = 61 * MIB
        assert end_greediest(budget, dict.fromkeys(taken, 20 * MIB)) == 0  # none is above what it reserved
        assert end_greediest(budget, taken) == greedy.pid


# --- What is slow to make is made once for all who ask, and others are answered meanwhile


async def test_all_who_ask_share_one_making_and_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    go = threading.Event()

    def make() -> int:
        assert go.wait(60)
        made.append(1)
        return len(made)

    one = CachedList(make)
    asked = [asyncio.create_task(one.get()) for _ in range(100)]
    await asyncio.sleep(0.1)
    asked[0].cancel()
    go.set()
    assert await asyncio.gather(*asked[1:]) == [1] * 99
    assert await one.get() == 1
    monkeypatch.setattr(cached_lists, "LONGEST", 0.0)
    assert await CachedList(make).get() == 2
    monkeypatch.setattr(one, "_until", 0.0)
    assert await one.get() == 3


async def test_what_goes_wrong_is_told_to_all_and_tried_again() -> None:
    tries: list[int] = []

    def make() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("once")
        return 7

    one = CachedList(make)
    assert await asyncio.gather(*(one.get() for _ in range(3)), return_exceptions=True) != [7, 7, 7]
    while True:
        try:
            assert await one.get() == 7
            break
        except ValueError:
            await asyncio.sleep(0.01)


async def test_a_hundred_pages_of_puzzles_read_each_file_once_and_block_nobody(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[object] = []
    rules_of = catalogue.read_rules_file
    catalogue._game_card.cache_clear()
    monkeypatch.setattr(catalogue, "read_rules_file", lambda path: (read.append(path), rules_of(path))[1])
    pages = [asyncio.create_task(client.get("/puzzles")) for _ in range(100)]
    await asyncio.sleep(0)
    assert (await client.get("/static/page.js")).status == 200
    assert {reply.status for reply in await asyncio.gather(*pages)} == {200}
    assert len(read) == len(set(read)) > 10

"""Pages come with their protections, lead from other sites to nothing else, and bound what visitors take."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.answers import catalogue
from ggp.processes.budget import WorkBudget, WorkNeed
from ggp.protocol.event_source import BEHIND
from ggp.protocol.http_error import HttpError
from ggp.server.clients.visitors import Visitors
from ggp.web import cached_lists, visits
from ggp.web.app import end_greediest, make_app, memory_of
from ggp.web.cached_lists import CachedList
from ggp.web.gate import PAGES, POLICY, Tokens, WebSettings
from ggp.web.rooms import rooms
from ggp.web.shell import Broadcast
from ggp.web.visits import HELD, fields, json_object
from tests.examples import examples
from tests.ggp.server.live import talk
from tests.ggp.strangers import browse, site
from tests.ggp.web.pages import Client, WebServer, client_of, token_of
from tests.places import SOURCES
from tests.waiting import until

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
BROWSER = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)"}
PARTS = [("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe"), ("", "")]


def addresses(app: web.Application) -> Iterator[tuple[str, bool]]:
    """An address for each route that answers GET, whatever is added, and whether it is a page."""
    for route in app.router.routes():
        if route.method in ("GET", "*") and route.resource is not None:
            canonical = route.resource.canonical
            path = re.sub(r"\{[^{}]*\}", "1", canonical)
            yield f"{path}/page.js" if path == "/static" else path, canonical in app[PAGES]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_pages_of_other_sites_lead_to_pages_and_to_nothing_else(client: Client, site: str) -> None:
    found = list(addresses(client.app))
    assert {path for path, page in found if page} >= {"/", "/play/1", "/replay", "/puzzles", "/rules"}
    for path, page in found:
        for mode, dest in PARTS:
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest, **BROWSER}
            for method in ("GET", "HEAD"):
                assert (await client.request(method, path, headers=headers)).status == 403, path
        led = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        reply = await client.get(path, headers={**led, **BROWSER})
        assert (reply.status != 403) == page, path


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::"])
async def test_a_name_that_is_not_ours_gets_nothing_on_any_address(host: str) -> None:
    async with client_of(host=host, allow_hosts=("play.Example",)) as client:
        found = list(addresses(client.app))
        for name in ("rebound.example", "localhost.rebound.example:80", "[x", "play.example:x"):
            for path, _ in found:
                for method in ("GET", "HEAD", "POST"):
                    for more in ({}, BROWSER, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}):
                        reply = await client.request(method, path, headers={"Host": name, **more})
                        assert reply.status in (400, 403), (name, path)
                        if method == "GET" and reply.status == 403:
                            assert "--allow-host" in await reply.text()
        for name in [
            "localhost:1",
            "127.0.0.1",
            "[::1]:8080",
            "10.1.2.3:8080",
            "a.localhost",
            "PLAY.example",
        ]:
            for more in ({}, BROWSER):
                assert (await client.get("/", headers={"Host": name, **more})).status == 200, name


HOSTS = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"[a-z0-9.\-\[\]:@/%?#\\]{1,30}", fullmatch=True),
    st.tuples(
        st.sampled_from(["localhost", "127.0.0.1", "[::1]", "play.example", "rebound.example"]),
        st.sampled_from(["", ":1", ".", ".rebound.example", "@rebound.example", "/", "#", ":x", "\x00", " "]),
        st.sampled_from(["", ":80", "localhost", "@localhost", ".localhost:1"]),
    ).map("".join),
)


@pytest.mark.slow
@examples(2000)
@given(HOSTS)
def test_whatever_host_is_asked_for_is_refused_or_is_ours(host: str) -> None:
    try:
        Visitors("0.0.0.0", hosts=["play.example"]).check_host({"host": host})
    except HttpError as error:
        refused = error.status == 403
    else:
        refused = False
    name = re.sub(r":\d{0,5}$", "", host, flags=re.ASCII).lower().removesuffix(".")
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        ours = {"", "localhost", "play.example", "0.0.0.0", socket.gethostname().lower()}
        assert refused or name in ours or re.fullmatch(r"[^:/?#@\s\[\]]+\.localhost", name), host


@pytest.mark.parametrize("name", ["https://a.example", "a.example:80", "", "*", "a b", "a/b", "user@a"])
def test_what_is_no_name_is_refused_at_the_start(name: str) -> None:
    with pytest.raises(GdlError, match="is not a host name"):
        make_app(WebSettings(allow_hosts=(name,)))


async def test_browsers_that_do_not_say_where_a_request_comes_from_are_known_by_the_page(
    client: Client,
) -> None:
    """They say so only to https and to this computer; in a local network a page has its ``Referer``."""

    ours = {"Host": "10.1.2.3:8080", **BROWSER}
    for path in ("/api/games", "/rules/games/hex"):
        assert (await client.get(path, headers=ours)).status == 403
        for page in ("https://evil.example/", "http://10.1.2.3:80800/", "http://10.1.2.3:8080.evil.example/"):
            assert (await client.get(path, headers={**ours, "Referer": page})).status == 403
        for page in ("http://10.1.2.3:8080/", "http://10.1.2.3:8080/rules?game=hex"):
            assert (await client.get(path, headers={**ours, "Referer": page})).status == 200
        tool = {"Host": "10.1.2.3:8080", "User-Agent": "curl/8"}
        assert (await client.get(path, headers=tool)).status == 200
    for path in ("/", "/puzzles", "/static/page.js"):
        assert (await client.get(path, headers=ours)).status == 200


async def test_pages_behind_a_proxy_that_takes_https_may_do_all_of_it() -> None:
    async with client_of(allow_hosts=("play.example",)) as client:
        text = await (await client.get("/", headers={"Host": "play.example", **BROWSER})).text()
        token = re.findall('name="token" content="([^"]+)"', text)[0]
        headers = {"Host": "play.example", "Origin": "https://play.example", "X-Ggp-Token": token, **BROWSER}
        reply = await client.post("/rules/scramble", json={"text": "(role x)"}, headers=headers)
        assert reply.status == 200


async def test_origins_that_are_allowed_get_parts_too() -> None:
    async with client_of(allow_origins=("https://ours.example",)) as client:
        other = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", **BROWSER}
        for origin, status in (("https://ours.example", 200), ("https://evil.example", 403)):
            assert (await client.get("/api/games", headers={**other, "Origin": origin})).status == status


EVIL = """<!doctype html><title>waiting</title><body>%(frames)s<script>
addEventListener("load", async () => {
  const got = await Promise.all(%(urls)s.map((url) => fetch(url, {mode: "no-cors"}).then(() => 1, () => 0)));
  %(urls)s.forEach((url) => { new EventSource(url); new Image().src = url; });
  setTimeout(() => { document.title = "done"; }, 1500);
});</script>"""


async def test_a_page_in_a_real_browser_sets_nothing_off_and_leads_to_ours(tmp_path: Path) -> None:
    seen: list[tuple[str, str, int]] = []

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        reply = await handler(request)
        seen.append((request.path, request.headers.get("Sec-Fetch-Dest", ""), reply.status))
        return reply

    app = make_app(WebSettings())
    app.middlewares.insert(0, note)
    parts = ("puzzles", "replay/story?file=x", "api/games", "tournaments/events?file=x", "watch/events")
    async with client_of(app) as client:
        with site() as (origin, pages):
            urls = [str(client.make_url(f"/{part}")) for part in parts]
            frames = "".join(f'<img src="{url}"><iframe src="{url}"></iframe>' for url in urls)
            pages["/evil"] = EVIL % {"frames": frames, "urls": urls}
            pages["/link"] = f"<script>location = '{urls[0]}'</script>"
            await asyncio.to_thread(browse, f"{origin}/evil", tmp_path / "evil")
            assert {dest for _, dest, _ in seen} >= {"image", "iframe", "empty"}
            assert {status for _, _, status in seen} == {403}
            seen.clear()
            await asyncio.to_thread(browse, f"{origin}/link", tmp_path / "link")
    assert ("/puzzles", "document", 200) in seen
    assert {status for _, _, status in seen} == {200}


# --- Pages come with their protections; nothing is done for pages of other sites, or without a page's token
@pytest.fixture
def echoing(loop: asyncio.Runner) -> Iterator[Client]:
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


async def test_every_reply_forbids_what_pages_do_not_need(echoing: Client) -> None:
    for path in ("/", "/static/page.js", "/nowhere", "/broken"):
        reply = await echoing.get(path)
        assert reply.headers["Content-Security-Policy"] == POLICY
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert "secret" not in await reply.text()


async def test_a_page_carries_the_token_that_its_posts_need(echoing: Client) -> None:
    text = await (await echoing.get("/")).text()
    found = re.search('name="token" content="([^"]+)"', text)
    assert found is not None
    good = {"X-Ggp-Token": found[1]}
    assert (await echoing.post("/echo", json={}, headers=good)).status == 200
    for headers in (
        {},
        {"X-Ggp-Token": found[1][:-1]},
        {"X-Ggp-Token": "."},
        {"X-Ggp-Token": Tokens().make()},
    ):
        assert (await echoing.post("/echo", json={}, headers=headers)).status == 403


async def test_every_room_is_a_page_that_others_may_link_to_and_has_its_script_and_styles(
    echoing: Client,
) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    link = {**elsewhere, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for path, title in [(room.path, room.title) for room in rooms().values() if room.path]:
        reply = await echoing.get(path, headers=link)
        text = await reply.text()
        assert reply.status == 200, f"{path}: add its page by ggp.web.shell.add_page ({text})"
        assert f'<a href="{path}" aria-current=page>{title}</a>' in text
        assert (await echoing.get(path, headers=elsewhere)).status == 403
        files = re.findall(r'rel="stylesheet" href="([^"]+)"', text)
        files += [f"/static/{name}" for name in re.findall('data-module="([^"]+)"', text)]
        for file in files:
            assert (await echoing.get(file)).status == 200, f"{path} needs {file}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "rebound.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
async def test_pages_of_other_sites_get_nothing_done(echoing: Client, headers: dict[str, str]) -> None:
    token = token_of(echoing)
    for path in ("/echo", "/api/echo"):
        assert (await echoing.post(path, json={}, headers={**headers, **token})).status == 403


async def test_tools_that_are_no_browsers_need_no_token_for_the_api(echoing: Client) -> None:
    assert (await echoing.post("/api/echo", json={})).status == 200
    assert (await echoing.post("/api/echo", json={}, headers={"Sec-Fetch-Site": "same-origin"})).status == 403


async def test_readers_get_the_greeting_and_what_is_sent_and_a_slow_one_loses_the_oldest() -> None:
    news = Broadcast(lambda: [b"event: hello\ndata: 0\n\n"])
    app = web.Application()
    app.router.add_get("/events", news.stream)
    async with client_of(app) as echoing:
        async with echoing.get("/events") as reply:
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


# --- Many visitors: connections, work and lists that are slow to make have bounds, and others are answered
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
        # A busy computer may still be taking the crowd in; whoever is put off is asked to come again.
        until(lambda: talk(port, PAGE).startswith(b"HTTP/1.1 200 "), 20)
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

        async def post() -> None:
            async with client.post("/slow", data=b"x" * 1000, headers=token_of(client)) as reply:
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
    for name in ("game", "rules", "title", "name", "data", "text", "facts", "solver", "others"):
        told = {"game": "tictactoe", "text": "", "facts": "", name: "x" * 2_050_000}
        async with client.post(path, json=told, headers=token_of(client)) as reply:
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
    client: Client, monkeypatch: pytest.MonkeyPatch
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


async def test_an_address_that_leads_nowhere_is_a_page_for_a_browser_and_json_for_others(
    client: Client,
) -> None:
    browser = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"}
    for path, status in (("/plya", 404), ("/puzzles/none", 400), ("/docs/none", 404)):
        reply = await client.get(path, headers=browser)
        assert (reply.status, reply.content_type) == (status, "text/html")
        assert "lost.js" in await reply.text()
        reply = await client.get(path)
        assert (reply.status, reply.content_type) == (status, "application/json")
    reply = await client.get("/plya", headers={**browser, "Host": "evil.example"})
    assert (reply.status, reply.content_type) == (403, "application/json"), "no token for strangers"
    assert (await client.get("/favicon.ico")).content_type == "image/svg+xml"

"""Tables and records by the dozen, a server that floods, bytes that are not HTTP, a neighbour."""

from __future__ import annotations

import json
import random
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from bench.hostile_web.attack import Attack, Verdict, status_of, timed, victim
from bench.serving import ServerProcess
from ggp.game import Game
from ggp.protocol.dialect import request_bytes
from ggp.protocol.messages import spaced, start_request

ID = "Match.neighbours.tictactoe.1700000000"
PAGE = b"GET / HTTP/1.0\r\nAccept: text/plain\r\n\r\n"
EVENTS = b"GET /events HTTP/1.0\r\n\r\n"


def other_address() -> str:
    """An address of this computer that is not the loopback device's; empty where there is none."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        return str(probe.getsockname()[0])
    return ""


def ask(address: str, port: int, data: bytes) -> str:
    """What comes back from the server at this address, which is also where it is asked from."""
    with socket.create_connection((address, port), timeout=30) as connection:
        connection.sendall(data)
        reply = b""
        with suppress(TimeoutError, ConnectionError):
            while chunk := connection.recv(65536):
                reply += chunk
        return reply.decode("utf-8", "replace")


def foreign_messages(count: int, seed: int) -> Verdict:
    """A neighbour looks for the id of a match, then plays and ends it; and does so although it knows it."""
    verdict = Verdict()
    there = other_address()
    if not there:
        return Verdict("not tried: this computer has no address but its own")
    start = start_request(ID, "x", spaced(Game.load("tictactoe").kif), 5, 5)
    with ServerProcess("--host", "0.0.0.0", "--player", "legal", "--machine", "prover") as server:

        def say(address: str, message: str) -> str:
            return ask(address, server.port, request_bytes(message, "localhost", "x")).rpartition("\r\n\r\n")[
                2
            ]

        verdict.expect(say("127.0.0.1", start) == "ready", "the match does not begin")
        page, events = ask(there, server.port, PAGE), ask(there, server.port, EVENTS)
        verdict.expect("Live matches: 1" in page and ID not in page, f"the page shows the id: {page[-500:]}")
        verdict.expect(ID in ask("127.0.0.1", server.port, PAGE), "the page hides the id from this computer")
        verdict.expect(" 403 " in events[:40], f"events: {events[:200]}")
        tried = (start, f"( PLAY {ID} NIL )", f"( STOP {ID} NIL )", f"( ABORT {ID} )")
        answers = [say(there, message) for message in tried]
        verdict.expect(set(answers) == {"busy"}, f"a neighbour is answered {answers}")
        played = say("127.0.0.1", f"( PLAY {ID} NIL )")
        verdict.expect(played.startswith("(mark"), f"the match does not go on: {played}")
        verdict.expect(say("127.0.0.1", f"( ABORT {ID} )") == "aborted", "its manager cannot end it")
        verdict.expect(ID not in "".join(server.log), "the log shows the id")
    verdict.figures = f"START, PLAY, STOP, ABORT of a neighbour: {answers}; GET /events: {events[9:12]}"
    return verdict


MIB = 1024**2
TABLES = 40
SLOWEST = 5.0
"""Seconds that a page may take while others attack."""


@contextmanager
def held(port: int, data: bytes, count: int) -> Iterator[list[socket.socket]]:
    """So many connections that have sent this and are kept open as long as the server likes."""
    peers = []
    try:
        for _ in range(count):
            with suppress(OSError):
                peers.append(socket.create_connection(("127.0.0.1", port), timeout=10))
                peers[-1].sendall(data)
        yield peers
    finally:
        for peer in peers:
            peer.close()


def judge(verdict: Verdict, answers: list[tuple[int, float]], what: str) -> None:
    """Whether all were good and quick."""
    slowest = max((seconds for _, seconds in answers), default=0.0)
    middle = statistics.median(seconds for _, seconds in answers) if answers else 0.0
    statuses = dict(Counter(status for status, _ in answers))
    verdict.figures += f"; {what}: {statuses}, median {middle:.3f} s, slowest {slowest:.2f} s"
    verdict.expect(bool(answers) and set(statuses) == {200}, f"{what}: {statuses}")
    verdict.expect(slowest < SLOWEST, f"{what}: a page took {slowest:.1f} s")


def tables_at_once(count: int, seed: int) -> Verdict:
    """40 tables with searching players opened at the same time: those beyond the budget are told to wait."""
    verdict = Verdict()
    order = {"game": "connectfour", "seats": ["uct:workers=2", "uct"], "playclock": 2, "workers": 2}
    with victim("web") as web:
        time.sleep(10)  # until its fork servers have everything loaded
        own = web.children()
        body, most = json.dumps(order).encode(), 0

        def count_children() -> int:
            nonlocal most
            most = max(most, web.children() - own)
            return web.get("/")

        with timed(count_children) as answers, ThreadPoolExecutor(TABLES) as threads:
            replies = list(threads.map(lambda _: web.post("/play/tables", body), range(TABLES)))
            time.sleep(3)
        statuses = Counter(map(status_of, replies))
        refused = next((reply for reply in replies if status_of(reply) == 503), b"")
        verdict.figures = f"{TABLES} tables: {dict(statuses)}, at most {most} processes more"
        verdict.expect(set(statuses) == {200, 503}, f"statuses {dict(statuses)}")
        verdict.expect(b"retry-after" in refused.lower(), f"no Retry-After: {refused[:300]!r}")
        verdict.expect(most <= 60, f"{most} processes")
        judge(verdict, answers, "the first page")
    return verdict


def large_records(count: int, seed: int) -> Verdict:
    """Records of 30 MB, good and bad: the server answers others, and bad ones push no good one out."""
    verdict = Verdict()
    good = json.dumps({"matchId": "m", "states": ["( ( p ) )"], "moves": []})
    states = ["( ( p " + "x" * 3000 + " ) )"] * 9500
    large = json.dumps({"matchId": "m", "states": states, "moves": [["noop"]] * 9499})
    with victim("web") as web:
        before = web.resident()
        kept = web.post("/replay/records", json.dumps({"record": good}).encode())
        page = json.loads(kept.partition(b"\r\n\r\n")[2])["page"]
        texts = [large, *["[" * (30 * MIB)] * 10, large]
        bodies = [json.dumps({"record": text}).encode() for text in texts]
        with timed(lambda: web.get("/static/page.js")) as answers, ThreadPoolExecutor(4) as threads:
            statuses = Counter(threads.map(lambda one: status_of(web.post("/replay/records", one)), bodies))
        more = (web.resident() - before) // MIB
        verdict.figures = f"{len(bodies)} records of 30 MB: {dict(statuses)}, server {more} MiB more"
        verdict.expect(not [one for one in statuses if one not in (200, 400, 503)], f"statuses {statuses}")
        verdict.expect(more < 200, f"the server has grown by {more} MiB")
        verdict.expect(web.get(page.replace("/replay?", "/replay/story?")) == 200, "the good record is gone")
        judge(verdict, answers, "a static file")
    return verdict


class FloodingServer:
    """A server whose events are as many and as large as it can make them."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.sent = 0
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Take no more readers."""
        self._socket.close()

    def _run(self) -> None:
        while True:
            try:
                reader, _ = self._socket.accept()
            except OSError:
                return
            with reader, suppress(OSError):
                reader.recv(4096)
                reader.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                while True:
                    data = self._event()
                    reader.sendall(data)
                    self.sent += len(data)

    def _event(self) -> bytes:
        rng = self._rng
        name = rng.choice(("match", "match", "step", "search", "answer", "board", "ended", "x"))
        junk = "x" * rng.choice((10, 10_000, 1_500_000))
        told = {
            "match": f"m{rng.randrange(400)}",
            "rules": f"(role a) ; {junk}",
            "moves": [["a", junk[:1000]]] * rng.choice((0, 10, 3000)),
            "answers": [{"turn": 1, "move": junk[:10_000], "junk": junk[:10_000]}] * rng.choice((0, 50)),
            "players": [junk[:1000]] * 10,
            "note": junk[:100_000],
            "candidates": [[junk[:10_000], 1, 2]] * rng.choice((0, 100)),
            junk[:20]: [[[junk[:1000]]]] * 100,
        }
        return f"event: {name}\ndata: {json.dumps(told)}\n\n".encode()


def watch_flood(count: int, seed: int) -> Verdict:
    """A watched server that tells as much as it can for 30 s."""
    flood, verdict = FloodingServer(seed), Verdict()
    try:
        with victim("web", "--watch", f"http://127.0.0.1:{flood.port}") as web:
            time.sleep(10)
            before = web.resident()
            with timed(lambda: web.get("/static/page.js")) as answers:
                time.sleep(30)
            grown = (web.resident() - before) // MIB
            verdict.figures = (
                f"{flood.sent // MIB} MiB told, server {grown} MiB more, {web.children()} processes"
            )
            verdict.expect(grown < 150, f"the server has grown by {grown} MiB")
            judge(verdict, answers, "a static file")
    finally:
        flood.close()
    return verdict


def half_closed(count: int, seed: int) -> Verdict:
    """Requests whose senders close their side after the last byte: each is answered."""
    verdict = Verdict()
    body = b'{"game": "tictactoe"}'
    with victim("web") as web:
        requests = {
            "a page": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "a question": b"POST /api/legal HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
            % len(body)
            + body,
            "two requests": b"GET /rules HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2,
            "half a head": b"GET / HTTP/1.1\r\nHo",
            "half a body": b"POST /api/legal HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
            + body,
        }
        for name, data in requests.items():
            reply = web.talk(data, half_close=True, seconds=60)
            expected = 400 if name.startswith("half") else 200
            verdict.figures += f"{name}: {status_of(reply)}; "
            verdict.expect(status_of(reply) == expected, f"{name}: {reply[:200]!r}")
            verdict.expect(
                name != "two requests" or reply.count(b"HTTP/1.1 200") == 2, f"{name}: {reply[:200]!r}"
            )
    return verdict


def no_http(count: int, seed: int) -> Verdict:
    """What is no HTTP: one line in reply, none in the log."""
    rng, verdict = random.Random(seed), Verdict()
    lines = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
        b"SSH-2.0-x\r\n",
        b"\r\n" * 50,
        b"\x00" * 99,
    ]
    lines += [rng.randbytes(rng.randrange(1, 300)) for _ in range(200)]
    lines += [b"GET / HTTP/1.1\r\n" + rng.randbytes(50).replace(b"\n", b"") + b"\r\n\r\n" for _ in range(100)]
    with victim("web") as web:
        statuses = Counter(status_of(web.talk(line, half_close=True)) for line in lines)
        log = web.log()
        verdict.figures = f"{len(lines)} messages: {dict(statuses)}, {len(log)} bytes of log"
        verdict.expect(set(statuses) <= {0, 200, 400}, f"statuses {dict(statuses)}")
        verdict.expect(not log, log[:500])
        verdict.expect(web.get("/") == 200, "the first page does not come")
    return verdict


ATTACKS = [
    Attack("40 tables at once", tables_at_once),
    Attack("records of 30 MB", large_records),
    Attack("a watched server that floods", watch_flood),
    Attack("half-closed requests", half_closed),
    Attack("no HTTP", no_http),
    Attack("a neighbour at a player's server", foreign_messages),
]

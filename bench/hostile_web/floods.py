"""Orders of strangers to tables: more than a table takes, larger than a page needs, not theirs to give."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from bench.hostile_web.attack import Attack, Verdict, Victim, get_request, status_of, timed, victim
from bench.hostile_web.crowds import held

MIB = 1024**2
ORDERS = 1200
LONG = 1_900_000
MOST_GROWN = 100
"""MiB that the page's own process may grow by."""
BUSY: dict[str, Any] = {"game": "connectfour", "seats": ["uct", "human"], "playclock": 60, "workers": 0}


@contextmanager
def growth(web: Victim) -> Iterator[list[int]]:
    """How many MiB the page's own process grows by at most meanwhile."""
    before, most = web.resident(), [0]

    def look() -> int:
        most[0] = max(most[0], (web.resident() - before) // MIB)
        return 200

    with timed(look, 0.05):
        yield most


def open_table(web: Victim, order: dict[str, Any]) -> tuple[str, str]:
    """The path of a new table, and its owner's key."""
    path, _, key = json.loads(answer(web, "/play/tables", order))["page"].partition("#")
    return path, key


def answer(web: Victim, path: str, fields: dict[str, Any]) -> bytes:
    """The body of the reply to a request."""
    return web.post(path, json.dumps(fields).encode()).partition(b"\r\n\r\n")[2]


def flood(web: Victim, path: str, bodies: list[bytes]) -> Counter[int]:
    """The statuses of these orders, eight at a time."""
    web.token  # noqa: B018
    with ThreadPoolExecutor(8) as threads:
        return Counter(threads.map(lambda body: status_of(web.post(path, body)), bodies))


def orders_at_a_busy_table(count: int, seed: int) -> Verdict:
    """1,200 orders to a table whose player thinks: long ones, and short ones."""
    verdict = Verdict()
    with victim("web", "--memory", "1G") as web:
        table, key = open_table(web, BUSY)
        for name, fields in {
            "of 1.9 MB": {"role": "red", "key": key, "to": "x" * LONG},
            "short": {"role": "red", "key": key, "to": "1 1"},
        }.items():
            with growth(web) as grown, timed(lambda: web.get("/static/page.js")) as answers:
                statuses = flood(web, f"{table}/walk", [json.dumps(fields).encode()] * ORDERS)
            slowest = max((seconds for _, seconds in answers), default=0.0)
            verdict.figures += (
                f"{ORDERS} {name}: {dict(statuses)}, {grown[0]} MiB more, slowest page {slowest:.1f} s; "
            )
            verdict.expect(grown[0] < MOST_GROWN, f"{name}: the server has grown by {grown[0]} MiB")
            verdict.expect(set(statuses) <= {200, 400, 503}, f"{name}: {dict(statuses)}")
            verdict.expect(statuses[200] <= 64, f"{name}: {statuses[200]} orders wait")
        verdict.expect(web.get(table) == 200, "the table is gone")
    return verdict


def large_bodies(count: int, seed: int) -> Verdict:
    """Bodies of 2 MB to questions that take a while: 900,000 lists, 900 lists in each other, long rules."""
    verdict = Verdict()
    rules = json.dumps("\U0001f600" + "(p) " * 240_000).encode()
    bodies = {
        "wide": b'{"game": "hanoi", "text": "(p)", "junk": [' + b"[],[]," * 300_000 + b"[]]}",
        "deep": b'{"game": "hanoi", "text": "(p)", "junk": ' + b"[" * 900 + b"]" * 900 + b"}",
        "too deep": b'{"game": "hanoi", "junk": ' + b"[" * 1_000_000 + b"]" * 900_000 + b"}",
        "long": b'{"rules": ' + rules + b', "text": ' + rules + b"}",
    }
    with victim("web", "--memory", "1G") as web:
        for path in ("/puzzles", "/api/solve", "/api/validate", "/play/tables", "/rules/check", "/packings"):
            for name, body in bodies.items():
                with growth(web) as grown:
                    statuses = flood(web, path, [body] * 8)
                verdict.figures += f"{path} {name}: {dict(statuses)}, {grown[0]} MiB more; "
                verdict.expect(set(statuses) <= {200, 400, 503}, f"{path} {name}: {dict(statuses)}")
                verdict.expect(grown[0] < MOST_GROWN, f"{path} {name}: {grown[0]} MiB more")
        verdict.expect(web.get("/") == 200, "the first page does not come")
    return verdict


def state_of(web: Victim, table: str, key: str) -> dict[str, Any]:
    """What the holder of a key is shown of a table now; empty if it is shown nothing."""
    with held(web.port, get_request(f"{table}/events?key={key}"), 1) as [reader]:
        stream = b""
        while not (found := re.search(rb"event: state\ndata: (.*)\n\n", stream)):
            if not (chunk := reader.recv(1 << 16)):
                return {}
            stream += chunk
        return {**json.loads(found[1]), "age": 0}


def looking_on(count: int, seed: int) -> Verdict:
    """One without a seat tries to steer a match that hides information; one opens tables by a seed."""
    verdict = Verdict()
    with victim("web") as web:
        table, key = open_table(web, {"game": "kuhn", "seats": ["human", "friend"], "seed": 7})
        keys = [key, json.loads(answer(web, f"{table}/sit", {"role": "second"}))["key"]]
        time.sleep(1)
        before = [state_of(web, table, key) for key in keys]
        for do in ("again", "pause", "go", "swap", "back", "goto", "seat", "walk", "move", "hint") * 20:
            fields = {"role": "first", "move": "bet", "step": 0, "player": "random", "to": "1 1"}
            for key in ("", "x" * 16, *(keys[1:] if do in ("again", "back", "goto", "seat") else ())):
                answer(web, f"{table}/{do}", {**fields, "key": key})
        time.sleep(2)
        after = [state_of(web, table, key) for key in keys]
        verdict.expect(
            before[0].get("step") == 1 and before == after, f"the match has changed: {before} {after}"
        )
        seeds = set()
        for _ in range(2):
            table, _ = open_table(web, {"game": "kuhn", "seats": ["random", "random"], "seed": 7})
            time.sleep(2)
            reply = web.talk(get_request(f"{table}/keep?form=record"))
            seeds.add(int(json.loads(reply.partition(b"\r\n\r\n")[2]).get("seed", 7)))
        verdict.expect(len(seeds) == 2 and min(seeds) > 1 << 64, f"seeds that can be known: {seeds}")
    verdict.figures = f"step {after[0].get('step')} as before, {len(seeds)} seeds of 128 bits"
    return verdict


def pipelined(count: int, seed: int) -> Verdict:
    """One connection that asks for events, and then for page after page without reading."""
    verdict = Verdict()
    with victim("web", "--memory", "1G") as web:
        first = get_request("/watch/events").replace(b"Connection: close\r\n", b"")
        more = get_request("/").replace(b"Connection: close\r\n", b"") * 1000
        sent, end = 0, time.monotonic() + 20
        with growth(web) as grown, suppress(OSError), held(web.port, first, 1) as [peer]:
            peer.settimeout(2)
            time.sleep(0.5)
            while time.monotonic() < end and sent < 512 * MIB:
                sent += peer.send(more)
        verdict.figures = f"{sent // MIB} MiB of requests taken, {grown[0]} MiB more"
        verdict.expect(grown[0] < MOST_GROWN, f"the server has grown by {grown[0]} MiB")
        verdict.expect(web.get("/") == 200, "the first page does not come")
    return verdict


ATTACKS = [
    Attack("orders at a busy table", orders_at_a_busy_table),
    Attack("large bodies", large_bodies),
    Attack("those who look on at a hidden match", looking_on),
    Attack("requests behind one without an end", pipelined),
]

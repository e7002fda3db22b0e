"""Files and texts of strangers: tournaments, records, malformed rules and states."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import quote

from bench.hostile_tournaments import ROW, picture, write_hostile, write_special, write_tournament
from bench.hostile_web.attack import Attack, Verdict, Victim, get_request, status_of, timed, victim
from gdl.syntax.format import convert
from ggp.rule_files import installed_games

JOBS = ("check", "check", "check", "rewrite", "scramble", "count", "draw")
LETTERS = "() ?:-&|~.,'%;\\\n\t\x00\ufeff\u202exé1<>\"&"


@dataclass
class HostileCaller:
    """Sends what it is told to, and judges the replies."""

    address: str
    token: str = ""
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def ask(self, kind: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> int:
        """The status of the reply; a fault is kept where it is no answer, or tells what it should not."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", "X-Ggp-Token": self.token} if headers is None else headers
        request = urllib.request.Request(self.address + path, data, sent)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                status, text = reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        except (OSError, ValueError) as error:
            status, text = 0, f"no reply: {error}"
        self.statuses[f"{kind} {status}"] += 1
        lines = json.loads(text)["error"].count("\n") if status >= 400 and text.startswith("{") else 0
        if status in (0, 500) or lines or "Traceback" in text or "root:x:" in text:
            self.faults.append(f"{kind} {path} {json.dumps(body)[:200]}: {status} {text[:300]}")
        return status


def broken(text: str, rng: random.Random) -> str:
    """A text with some letters changed."""
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(LETTERS) * rng.choice((1, 1, 1, 300)) + text[at + rng.randint(0, 4) :]
    return text


def junk(rng: random.Random, depth: int = 5) -> str:
    """A run of nested nonsense."""
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(("a", "?x", "1", "role", "true", "<=", "not", "é", "<b>", "init", "legal"))
    return f"({' '.join(junk(rng, depth - 1) for _ in range(rng.randrange(5)))})"


def malformed_texts(count: int, seed: int) -> Verdict:
    """Send so many."""
    rng = random.Random(seed)
    games = [path.read_text() for path in installed_games() if path.stat().st_size < 8000]
    games += [*(convert(text, "infix") for text in games), *(convert(text, "prolog") for text in games)]
    verdict = Verdict()
    with victim("web") as web:
        caller = HostileCaller(f"http://127.0.0.1:{web.port}", web.token)
        before = web.resident()
        kinds: list[Callable[[], object]] = [
            lambda: _rules(caller, rng, games),
            lambda: caller.ask("state", "/api/state", {"game": "tictactoe", "state": junk(rng)}, {}),
            lambda: _foreign(caller, rng),
        ]
        for number in range(count):
            kinds[number % len(kinds)]()
        alive = caller.ask("after", "/rules/check", {"text": games[0]}) == 200
        statuses = ", ".join(f"{kind}: {number}" for kind, number in sorted(caller.statuses.items()))
        verdict.figures = f"{statuses}\nserver: {before >> 20} MiB before, {web.resident() >> 20} after"
        verdict.expect(alive, "rules are not checked any more")
        log = web.log()
        verdict.expect("Traceback" not in log and "internal error" not in log, f"the log: {log[-2000:]}")
    verdict.faults += caller.faults
    return verdict


def _rules(caller: HostileCaller, rng: random.Random, games: list[str]) -> None:
    text = broken(rng.choice(games), rng) if rng.random() < 0.7 else junk(rng, 9) * rng.choice((1, 200))
    fields = {"rewrite": {"to": "infix"}, "scramble": {"seed": 1}, "draw": {"of": ""}}
    job = rng.choice(JOBS)
    caller.ask("rules", f"/rules/{job}", {"text": text, **fields.get(job, {})})


def _foreign(caller: HostileCaller, rng: random.Random) -> None:
    """A POST in the name of another site's page, or without a page's token: refused."""
    origin, token = {"Origin": "https://evil.example"}, {"X-Ggp-Token": caller.token}
    headers = rng.choice((origin, {**origin, **token}, {"Sec-Fetch-Site": "cross-site", **token}, {}))
    path = rng.choice(("/rules/check", "/play/tables", "/puzzles"))
    if caller.ask("foreign", path, {"text": "(role x)", "game": "nim"}, headers) != 403:
        caller.faults.append(f"{path} was done for {headers}")


AT_ONCE = 100
"""GETs of a page of names."""
LONGEST = 2.0
"""Seconds that a static file may take meanwhile."""


def _while_asked(server: Victim, work: Callable[[], None]) -> list[float]:
    """Do some work; how long a static file took again and again meanwhile, in seconds."""
    with timed(lambda: server.get("/static/page.js"), 0.02) as answers:
        work()
    return [seconds if status == 200 else 60.0 for status, seconds in answers]


def _figures(what: str, took: list[float]) -> str:
    return f"{what}; a static file meanwhile: {1000 * median(took):.0f} ms, at most {1000 * max(took):.0f} ms"


_CROWD = """
import sys, urllib.request
from concurrent.futures import ThreadPoolExecutor
def get(number):
    with urllib.request.urlopen(sys.argv[1], timeout=60) as reply:
        reply.read()
        return reply.status
with ThreadPoolExecutor(int(sys.argv[2])) as pool:
    print(*set(pool.map(get, range(int(sys.argv[2])))))
"""
"""Many GETs at the same time, in a process of its own: ours is to measure."""


def tournaments(count: int, seed: int) -> Verdict:
    """Every kind of file in both rooms."""
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = [*write_hostile(folder), *write_special(folder)]
        write_tournament(folder / "good.sqlite")
        before = picture(folder)
        with victim("web", "--records", name) as server:
            memory = server.resident()

            def work() -> None:
                for file in names:
                    for path in (
                        f"/tournaments/events?file={quote(file)}",
                        f"/replay/story?tournament={quote(file)}&match=1",
                    ):
                        reply = server.talk(get_request(path))
                        # One match of a file may be whole where others are not.
                        good = status_of(reply) == 400 or (path[1] == "r" and status_of(reply) == 200)
                        body = reply.partition(b"\r\n\r\n")[2]
                        verdict.expect(good, f"{path}: {reply[:200]!r}")
                        told = json.loads(body).get("error", "") if status_of(reply) == 400 else ""
                        verdict.expect(told.isprintable(), f"{path}: {told}")
                        verdict.expect(b"internal error" not in body, f"{path}: {body[:200]!r}")

            took = _while_asked(server, work)
            verdict.expect(
                server.get("/tournaments/events?file=good.sqlite") == 200, "a good file is refused"
            )
            verdict.expect(max(took) < LONGEST, f"a static file took {max(took):.1f} s")
            memory = server.resident() - memory
            verdict.expect("Traceback" not in server.log(), server.log()[-500:])
        verdict.expect(picture(folder) == before, "looking at a file has changed its folder")
    verdict.figures = _figures(f"{len(names)} files in 2 rooms, {memory >> 20} MiB more", took)
    return verdict


def ended_while_reading(count: int, seed: int) -> Verdict:
    """SIGTERM while a process reads a tournament of 300,000 matches: the server ends at once."""
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "large.sqlite"
        write_tournament(path, row=None)
        with closing(sqlite3.connect(path)) as database, database:
            columns, *row = "?", *ROW[3:]
            database.executemany(
                f"INSERT INTO match VALUES (?, 'g', ?, {', '.join(columns * len(row))})",
                ((number, number, *row) for number in range(300_000)),
            )
        before = picture(Path(name))
        asked: list[threading.Thread] = []
        with victim("web", "--records", name) as server:
            asked += [
                threading.Thread(
                    target=server.get, args=(f"/tournaments/events?file=large.sqlite&sprt=0,{elo}",)
                )
                for elo in range(10, 50)
            ]
            for thread in asked:
                thread.start()
            time.sleep(3)
            verdict.expect(server.get("/static/page.js") == 200, "a static file is not answered")
            children, began = server.children(), time.monotonic()
        seconds = time.monotonic() - began
        for thread in asked:
            thread.join()
        verdict.expect(picture(Path(name)) == before, "looking at a file has changed its folder")
    verdict.figures = f"{len(asked)} readers, {children} processes; it ended {seconds:.1f} s after SIGTERM"
    return verdict


def pages_of_names(count: int, seed: int) -> Verdict:
    """A hundred people open a page of names at the same time."""
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as folder, victim("web", "--records", folder) as server:
        for number in range(3000):
            (Path(folder) / f"{number}.json").write_text("{}")
        figures = []
        for path in ("/puzzles", "/replay", "/tournaments", "/api/games", "/play"):

            def work(path: str = path) -> None:
                address = f"http://localhost:{server.port}{path}"
                command = [sys.executable, "-c", _CROWD, address, str(AT_ONCE)]
                told = subprocess.run(command, capture_output=True, text=True, check=False)
                verdict.expect(told.stdout.split() == ["200"], f"{path}: {told.stdout} {told.stderr[-300:]}")

            began = time.monotonic()
            took = _while_asked(server, work)
            seconds = time.monotonic() - began
            verdict.expect(max(took) < LONGEST, f"{path}: a static file took {max(took):.1f} s")
            figures.append(_figures(f"{AT_ONCE} x {path} in {seconds:.1f} s", took))
    verdict.figures = "\n  ".join(figures)
    return verdict


ATTACKS = (
    Attack("malformed rules and states", malformed_texts),
    Attack("tournaments of strangers", tournaments),
    Attack("ended while reading", ended_while_reading),
    Attack("pages of names", pages_of_names),
)

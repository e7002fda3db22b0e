"""Tournaments of strangers among the records of ``ggp web``, and lists that take long to make."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from urllib.parse import quote

from bench.hostile_tournaments import ROW, picture, write_hostile, write_special, write_tournament
from bench.hostile_web.attack import Attack, Verdict, Victim, get_request, status_of, timed, victim

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
    Attack("tournaments of strangers", tournaments),
    Attack("ended while reading", ended_while_reading),
    Attack("pages of names", pages_of_names),
)

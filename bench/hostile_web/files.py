"""Files and texts of strangers: tournaments, records, malformed rules and states."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import quote

from bench.hostile_tournaments import picture, write_hostile, write_special, write_tournament
from bench.hostile_web.attack import Attack, Verdict, Victim, get_request, status_of, timed, victim
from gdl.syntax.format import convert
from ggp.rule_files import installed_games

JOBS = ("check", "check", "check", "rewrite", "scramble", "count", "draw")
LETTERS = "() ?:-&|~.,'%;\\\n\t\x00\ufeff\u202exé1<>\"&"


@dataclass
class HostileCaller:
    """Sends malformed requests, and judges the replies."""

    web: Victim
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def ask(self, kind: str, path: str, body: object, headers: Sequence[str] | None = None) -> int:
        """The status of the reply to a POST, with a page's token if no headers are given. A reply that is not
        an answer, or shows more than it should, is a fault."""
        lines = [f"X-Ggp-Token: {self.web.token}"] if headers is None else headers
        reply = self.web.post(path, json.dumps(body).encode(), lines)
        status, text = status_of(reply), reply.partition(b"\r\n\r\n")[2].decode()
        self.statuses[f"{kind} {status}"] += 1
        breaks = json.loads(text)["error"].count("\n") if status >= 400 and text.startswith("{") else 0
        if status in (0, 500) or breaks or "Traceback" in text or "root:x:" in text:
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
        caller = HostileCaller(web)
        before = web.resident()
        kinds: list[Callable[[], object]] = [
            lambda: _rules(caller, rng, games),
            lambda: caller.ask("state", "/api/state", {"game": "tictactoe", "state": junk(rng)}, ()),
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
    origin, token = "Origin: https://evil.example", f"X-Ggp-Token: {caller.web.token}"
    headers = rng.choice(((origin,), (origin, token), ("Sec-Fetch-Site: cross-site", token), ()))
    path = rng.choice(("/rules/check", "/play/tables", "/puzzles"))
    if caller.ask("foreign", path, {"text": "(role x)", "game": "nim"}, headers) != 403:
        caller.faults.append(f"{path} was done for {headers}")


LONGEST = 2.0
"""Seconds that a static file may take meanwhile."""


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

            with timed(lambda: server.get("/static/page.js"), 0.02) as answers:
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
                        error = json.loads(body).get("error", "") if status_of(reply) == 400 else ""
                        verdict.expect(error.isprintable(), f"{path}: {error}")
                        verdict.expect(b"internal error" not in body, f"{path}: {body[:200]!r}")
            took = [seconds if status == 200 else 60.0 for status, seconds in answers]
            verdict.expect(
                server.get("/tournaments/events?file=good.sqlite") == 200, "a good file is refused"
            )
            verdict.expect(max(took) < LONGEST, f"a static file took {max(took):.1f} s")
            memory = server.resident() - memory
            verdict.expect("Traceback" not in server.log(), server.log()[-500:])
        verdict.expect(picture(folder) == before, "looking at a file has changed its folder")
    verdict.figures = (
        f"{len(names)} files in 2 rooms, {memory >> 20} MiB more; a static file meanwhile: "
        f"{1000 * median(took):.0f} ms, at most {1000 * max(took):.0f} ms"
    )
    return verdict


ATTACKS = (
    Attack("malformed rules and states", malformed_texts),
    Attack("tournaments of strangers", tournaments),
)

"""Malformed rules, states, stylesheets, and POSTs in the name of other sites' pages: one line each."""

from __future__ import annotations

import json
import random
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.hostile_web.attack import Attack, Verdict, victim
from gdl.syntax.format import convert
from ggp.game import installed_games

JOBS = ("check", "check", "check", "rewrite", "scramble", "count", "draw")
SHEET = """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:template name="again" match="/"><div><xsl:for-each select="state/fact[relation='cell']">
<p class="a"><xsl:value-of select="argument[1]"/></p></xsl:for-each></div></xsl:template></xsl:stylesheet>"""
POISON = (
    "<xsl:copy-of select=\"document('file:///etc/passwd')\"/>",
    '<xsl:call-template name="again"/>',
    "<script>alert(1)</script>",
    "&lol;",
    '<!DOCTYPE x [<!ENTITY lol "lol">]>',
    '<xsl:import href="http://127.0.0.1:9/"/>',
    "<![CDATA[",
    '<xsl:value-of select="string-length(//*[//*[//*[//*]]])"/>',
)
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


def run(count: int, seed: int) -> Verdict:
    """Send so many."""
    rng = random.Random(seed)
    games = [path.read_text() for path in installed_games() if path.stat().st_size < 8000]
    games += [*(convert(text, "infix") for text in games), *(convert(text, "prolog") for text in games)]
    verdict = Verdict()
    with tempfile.TemporaryDirectory() as folder:
        sheets = [Path(folder) / f"sheet{number}.xsl" for number in range(max(1, count // 4))]
        for sheet in sheets:
            at = rng.randrange(len(SHEET))
            poisoned = SHEET[:at] + rng.choice(POISON) + SHEET[at:]
            sheet.write_text(broken(SHEET, rng) if rng.random() < 0.5 else poisoned, errors="replace")
        with victim("web", "--styles", folder) as web:
            caller = HostileCaller(f"http://127.0.0.1:{web.port}", web.token)
            before = web.resident()
            kinds: list[Callable[[], object]] = [
                lambda: _rules(caller, rng, games),
                lambda: caller.ask("state", "/api/state", {"game": "tictactoe", "state": junk(rng)}, {}),
                lambda: caller.ask("style", f"/styles/{rng.choice(sheets).stem}", {"facts": junk(rng)}),
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
    path = rng.choice(("/rules/check", "/play/tables", "/puzzles", "/styles/sheet0"))
    if caller.ask("foreign", path, {"text": "(role x)", "game": "nim", "facts": "p"}, headers) != 403:
        caller.faults.append(f"{path} was done for {headers}")


ATTACKS = [Attack("malformed rules, states and stylesheets", run)]

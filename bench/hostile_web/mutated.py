"""Mutated requests and orders to every route of ``ggp web``: whatever comes, the reply is no 500."""

from __future__ import annotations

import json
import random
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench.hostile_web.attack import Attack, Verdict, Victim, status_of, victim
from ggp.protocol.http_error import RETRY_SECONDS
from ggp.web.play.requests import REQUESTS

THREADS = 6
_TRIES = 4
"""How often a server that says "busy" is asked again, each time after as long as it says."""
BIG = (10**30, -(10**30), 2**63, 2**64, 1e308, -1e308, 1e-308, -0.0, 10**400)
TEXTS = (
    "", "\x00", "x" * 100_000, "\ud800", "\U0001f600", "\u202e", "'", '"', "((((", "../../etc/passwd",
    "%00",
)  # fmt: skip
VALUES: tuple[Any, ...] = (None, True, False, 0, -1, 1.5, [], [[]], {}, {"a": {}}, *BIG[:3], *TEXTS)
NAMES = (
    "self", "do", "kind", "cls", "__class__", "args", "kwargs", "name", "path", "", "\x00", "é",
    "role", "move",
)  # fmt: skip
TABLE: dict[str, Any] = {
    "game": "tictactoe",
    "seats": ["human", "human"],
    "playclock": 0.1,
    "seed": 1,
    "workers": 0,
}
RULES = (
    "(role x) (<= (legal x a) (not (true over))) (<= (next over) (does x a)) "
    "(<= terminal (true over)) (goal x 100)"
)
RECORD = {"matchId": "m", "states": ["( ( p ) )"], "moves": []}
POSITION: dict[str, Any] = {"game": "tictactoe", "state": "", "moves": [["(mark b 2)", "noop"]]}
POSTS: dict[str, dict[str, Any]] = {
    "/play/tables": {**TABLE, "moves": [["(mark a 1)", "noop"]]},
    **{
        f"/play/TABLE/{order}": {
            "role": "x",
            "move": "(mark a 1)",
            "step": 0,
            "player": "human",
            "name": "Ann",
            "key": "KEY",
        }
        for order in (*REQUESTS, "nothing")
    },
    "/replay/records": {"record": json.dumps(RECORD), "rules": "", "game": "tictactoe"},
    "/replay/analysis?file=m.json": {},
    "/choice": {"name": "x.xsb", "data": "IyMjIyMKI0AkLiMKIyMjIyM=", "check": True},
    "/puzzles": {"game": "hanoi", "seconds": 0.1, "solver": ""},
    "/puzzles/x/stop": {},
    **{
        f"/rules/{job}": {"text": RULES, "to": "infix", "seed": 1, "of": ""}
        for job in ("check", "rehearse", "rewrite", "scramble", "count", "draw", "nothing")
    },
    "/api/validate": {"rules": RULES, "play": False},
    "/api/state": POSITION,
    "/api/next": {**POSITION, "joint": ["noop", "(mark a 1)"]},
    "/api/legal": POSITION,
    "/api/goals": POSITION,
    "/api/playouts": {**POSITION, "n": 4, "seed": 1},
    "/api/solve": {"game": "hanoi", "seconds": 0.1},
    "/api/verify": {"rules": RULES, "trace": '{"type": "game"}'},
}
GETS = (
    "/", "/play", "/play/TABLE", "/play/TABLE/events", "/play/x/events", "/watch", "/watch?match=x",
    "/watch/events", "/watch/x/events", "/watch/x/steps/3", "/replay", "/replay/stamp?file=m.json",
    "/replay/story?file=m.json", "/replay/compared?file=m.json", "/replay/card?file=m.json",
    "/replay/frames?file=m.json&first=0&count=2", "/replay/export?file=m.json",
    "/replay/rules?file=m.json", "/puzzles/draw",
    "/replay/story?brought=x", "/replay/story?tournament=t.sqlite&match=1", "/tournaments",
    "/tournaments?file=t.sqlite", "/tournaments/events?file=t.sqlite&sprt=0,10", "/puzzles",
    "/puzzles/x", "/puzzles/x/events", "/puzzles/x/steps/0", "/rules", "/rules/games/tictactoe",
    "/static/page.js", "/static/../app.py", "/api/games", "/api/openapi.json",
    "/games/tictactoe/state.svg", "/games/tictactoe/state.svg?state=(cell+1+1+x)&moves=noop",
)  # fmt: skip
METHODS = (
    "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get", "PRI", "M-SEARCH",
    "G\xc3T", "",
)  # fmt: skip
HEADERS = (
    "Host", "Origin", "Sec-Fetch-Site", "X-Ggp-Token", "Content-Type", "Accept", "Range",
    "If-None-Match", "If-Modified-Since", "Cookie", "Expect", "Upgrade", "Connection",
    "Content-Encoding", "Content-Length", "Transfer-Encoding", "X-Forwarded-For", "Referer",
    "Accept-Encoding", "If-Range", "Forwarded",
)  # fmt: skip
WORDS = (
    b"", b"\xff\xfe", b"\xc3\xa9", b"x" * 9000, b"*", b"null", b"bytes=0-", b"bytes=9-1,-5",
    b"bytes=-0", b"100-continue", b"nonsense", b"websocket", b"upgrade", b"close", b"keep-alive",
    b"gzip", b"deflate", b"chunked", b"identity, chunked", b"-1", b"1e9", b"0",
    b"99999999999999999999", b"https://evil.example", b"[::1", b"localhost:99999", b"cross-site",
    b"multipart/form-data; boundary=", b"text/html; charset=\xff",
)  # fmt: skip


@dataclass
class RawRequest:
    """A request before it is made into bytes."""

    method: bytes
    path: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    version: bytes = b"HTTP/1.1"
    length: int | None = None

    def data(self) -> bytes:
        """What is sent."""
        lines = [b" ".join((self.method, self.path, self.version))]
        lines += [name + b": " + value for name, value in self.headers]
        if self.method not in (b"GET", b"HEAD") or self.body:
            length = len(self.body) if self.length is None else self.length
            lines.append(b"Content-Length: %d" % length)
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


class Mutator:
    """Makes requests: mostly right ones, changed in one place to four."""

    def __init__(self, rng: random.Random, token: str, table: str, key: str) -> None:
        self._rng = rng
        self._token, self._table, self._key = token, table, key

    def request(self) -> RawRequest:
        """The next one."""
        rng = self._rng
        headers = [(b"Host", b"localhost"), (b"X-Ggp-Token", self._token.encode()), (b"Connection", b"close")]
        if rng.random() < 0.7:
            path = rng.choice(list(POSTS))
            made = RawRequest(b"POST", self._named(path), headers, self._body(POSTS[path]))
        else:
            made = RawRequest(b"GET", self._named(rng.choice(GETS)), headers)
        changes: tuple[Callable[[RawRequest], None], ...] = (
            *(self._header, self._path, self._query, self._bytes, self._method, self._whole),
        )
        for change in rng.choices(changes, (4, 2, 3, 3, 1, 1), k=rng.choice((0, 0, 1, 1, 2, 4))):
            change(made)
        return made

    def _named(self, path: str) -> bytes:
        return path.replace("TABLE", self._table).encode()

    def _body(self, usual: dict[str, Any]) -> bytes:
        rng, told = self._rng, dict(usual)
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            name = rng.choice([*told, *NAMES])
            match rng.randrange(4):
                case 0:
                    told.pop(name, None)
                case 1:
                    told[rng.choice(NAMES)] = rng.choice(VALUES)
                case _:
                    told[name] = self._value(told.get(name))
        text = json.dumps(told, ensure_ascii=rng.random() < 0.5).replace("KEY", self._key)
        match rng.randrange(14):
            case 0:  # doubled fields
                text = text[:-1] + f', "{rng.choice([*told, "x"])}": {json.dumps(rng.choice(VALUES))}}}'
            case 1:
                text = text.replace(":", f": {rng.choice(BIG)!r} ", 1)
            case 2:
                text = rng.choice(("NaN", "[]", "null", '"x"', "1", "", "{", "[" * 100_000, '{"a":' * 50_000))
            case 3:
                text = text.replace('"', '"\\ud800', 1)
        return text.encode("utf-8", "surrogatepass")

    def _value(self, before: object) -> Any:
        """Another value: of any kind, or like the one before."""
        rng = self._rng
        if isinstance(before, str) and before and rng.random() < 0.6:
            at = rng.randrange(len(before))
            return (
                before[:at]
                + rng.choice((*TEXTS[:2], *TEXTS[3:], "(", ")", "?x", ":", ",", "="))
                + before[at + 1 :]
            )
        if isinstance(before, list) and rng.random() < 0.6:
            return rng.choice(([*before, rng.choice(VALUES)], before * 500, [before], before[:-1]))
        if isinstance(before, int | float) and rng.random() < 0.5:
            return rng.choice((*BIG, -before, before + 0.5))
        return rng.choice(VALUES)

    def _header(self, made: RawRequest) -> None:
        rng = self._rng
        name, value = rng.choice(HEADERS).encode(), rng.choice(WORDS)
        if rng.random() < 0.5:
            made.headers = [one for one in made.headers if one[0] != name]
        made.headers += [(name, value)] * rng.choice((1, 1, 1, 2, 40))
        if rng.random() < 0.1:
            made.headers.append((bytes(rng.randrange(1, 256) for _ in range(5)), b"x"))

    def _path(self, made: RawRequest) -> None:
        rng = self._rng
        piece = rng.choice(
            (
                b"%00",
                b"%ff",
                b"/..",
                b"//",
                b"/%2e%2e/",
                b"\xff",
                b"%",
                b";",
                b"#",
                b"x" * 9000,
                b"/self",
                b"?",
            )
        )
        at = rng.randrange(len(made.path) + 1)
        made.path = made.path[:at] + piece + made.path[at:]
        if rng.random() < 0.1:
            made.path = rng.choice((b"*", b"", b"http://evil.example/", b"localhost:80", b"//evil.example/x"))

    def _query(self, made: RawRequest) -> None:
        rng = self._rng
        names = ("file", "match", "first", "count", "tournament", "brought", "sprt", "state", "moves", "self")
        text = rng.choice(tuple(map(str, VALUES)))[:2000]
        value = quote(text.encode("utf-8", "surrogatepass")).encode()
        joint = b"&" if b"?" in made.path else b"?"
        made.path += (
            joint + rng.choice(names).encode() + b"=" + rng.choice((value, b"%ff%00", b"a" * 300, b"9" * 30))
        )

    def _bytes(self, made: RawRequest) -> None:
        rng, body = self._rng, bytearray(made.body)
        for _ in range(rng.randrange(1, 6)):
            if body:
                at = rng.randrange(len(body))
                body[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        made.body = bytes(body)
        if rng.random() < 0.3:
            made.length = max(0, len(body) + rng.choice((-5, -1, 1, 1000)))

    def _method(self, made: RawRequest) -> None:
        made.method = self._rng.choice(METHODS).encode("latin-1")

    def _whole(self, made: RawRequest) -> None:
        made.version = self._rng.choice((b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/9.9", b"", b"ICY"))


@dataclass
class Tally:
    """What came back."""

    rows: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, request: RawRequest, reply: bytes | None) -> None:
        """One request and its reply; None where nothing came within the time."""
        status = 0 if reply is None else status_of(reply)
        text = b"" if reply is None else reply.partition(b"\r\n\r\n")[2]
        room = request.path.decode("latin-1").lstrip("/").partition("/")[0].partition("?")[0]
        kind = room if f"/{room}" in ROOMS else "other"
        with self.lock:
            self.rows.setdefault(kind, Counter())[str(status) if status else "none"] += 1
            bad = status >= 500 and status != 503
            late = status == 503 and reply is not None and b"retry-after" not in reply.lower()
            if reply is None or bad or late or not status or b"Traceback" in text:
                words = "no answer in time" if reply is None else f"{reply[:40]!r} {text[:200]!r}"
                self.faults.append(f"{request.data()[:600]!r}: {words}")

    def table(self) -> str:
        """Statuses by room."""
        heads = sorted({status for row in self.rows.values() for status in row})
        lines = ["".join([f"{'room':12}", *(f"{head:>7}" for head in heads)])]
        for kind, row in sorted(self.rows.items()):
            lines.append("".join([f"{kind:12}", *(f"{row[head] or '':>7}" for head in heads)]))
        return "\n".join(lines)


ROOMS = {f"/{path.lstrip('/').partition('/')[0].partition('?')[0]}" for path in (*POSTS, *GETS)}


def mutate(count: int, seed: int) -> Verdict:
    """Send so many mutated requests."""
    verdict, tally = Verdict(), Tally()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.json").write_text(json.dumps(RECORD))
        (Path(folder) / "t.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(100))
        options = ("--records", folder, "--processes", "16", "--memory", "4G")
        with victim("web", *options) as web:
            opened = json.loads(
                web.post("/play/tables", json.dumps(TABLE).encode()).partition(b"\r\n\r\n")[2]
            )
            table, key = opened["table"], opened["key"]
            watcher = socket.create_connection(("127.0.0.1", web.port))
            watcher.sendall(f"GET /play/{table}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            mutator, lock = Mutator(random.Random(seed), web.token, table, key), threading.Lock()

            def send(_: int) -> None:
                with lock:
                    request = mutator.request()
                try:
                    # What is shorter than its length says is given its end.
                    reply = web.talk(request.data(), half_close=True, seconds=90)
                except TimeoutError:
                    reply = None
                tally.note(request, reply)

            before = web.resident()
            with ThreadPoolExecutor(THREADS) as threads:
                list(threads.map(send, range(count)))
            watcher.close()
            _look_after(web, verdict)
            verdict.figures = (
                f"{count} requests, server {before >> 20} MiB before, {web.resident() >> 20} after, "
                f"{web.children()} processes, {len(web.log())} bytes of log\n{tally.table()}"
            )
    verdict.faults += tally.faults
    return verdict


def _look_after(web: Victim, verdict: Verdict) -> None:
    """Whether the server still does everything, and has logged nothing odd."""
    verdict.expect(web.get("/") == 200, "the first page does not come any more")
    for _ in range(_TRIES):  # tables that nobody has looked at make room after some seconds
        checked = web.post("/rules/check", json.dumps({"text": RULES}).encode())
        if status_of(checked) != 503:
            break
        time.sleep(RETRY_SECONDS)
    verdict.expect(status_of(checked) == 200, f"rules are not checked any more: {checked[-200:]!r}")
    log = web.log()
    verdict.expect("Traceback" not in log and "internal error" not in log, f"the log: {log[-2000:]}")


ATTACKS = [Attack("mutated requests to all routes", mutate)]

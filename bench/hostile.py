"""Malformed HTTP requests to a player's server, what may come back, and a match that must go on meanwhile.

``make hostile`` sends 10,000 of them (tests/ggp/test_hostile_http.py). No script: tests use it.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

from bench.serving import post, say

COUNTING = (
    "(role left) (role right) (init (count 0)) (small 1) (small 2)"
    " (<= (legal ?r (add ?n)) (role ?r) (small ?n))"
    " (<= (next (count ?m)) (true (count ?n)) (after ?n ?m))"
    " (<= terminal (true (count 30)))"
    " (<= (goal ?r 50) (role ?r))"
) + "".join(f" (after {n} {n + 1})" for n in range(30))
"""The game of the match that must not be disturbed: two roles, thirty turns."""


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile request.

    Attributes:
        kind: what is wrong with it.
        data: the bytes to send; ``half_close`` afterwards.
        statuses: the HTTP statuses that are right; 0 is a closed connection.
        body: a pattern that the reply's body matches.
    """

    kind: str
    data: bytes
    half_close: bool = False
    statuses: tuple[int, ...] = (400,)
    body: str = r"error: \S.{5,600}\Z"


# --- pieces ----------------------------------------------------------------------------------------
def word(rng: random.Random) -> str:
    return rng.choice(
        ["a", "B", "?x", "1", "role", "true", "not", "or", "<=", "legal", "é", "?", "-", "''", "nil"]
    )


def junk(rng: random.Random, depth: int = 4) -> str:
    if depth == 0 or rng.random() < 0.4:
        return word(rng)
    return "(" + " ".join(junk(rng, depth - 1) for _ in range(rng.randrange(5))) + ")"


def unbalanced(rng: random.Random) -> str:
    text = f"( START h Robot ({' '.join(junk(rng) for _ in range(6))}) 1 1 )"
    cut = rng.choice([i for i, c in enumerate(text) if c in "()"])
    return text[:cut] + rng.choice(["", "((", "))"]) + text[cut + 1 :]


def broken_rules(rng: random.Random) -> str:
    """Rules with balanced parentheses that nobody can play."""
    return rng.choice(
        [
            "",
            "( <= )",
            "( role )",
            "( )",
            "( ( ) )",
            "?x",
            "( role Robot ) ( <= ( legal Robot a ) ( not a b ) )",
            "( role Robot ) ( <= ( next ?x ) ?x )",
            "( role Robot ) ( <= ( ?x a ) ( true a ) )",
            "( role Robot ) ( <= ( not a ) ( true a ) )",
            "( role Robot ) ( init ( a ) )",
            "( role other ) ( legal other a )",
            "( role Robot ) ( <= ( legal Robot ( f ?x ) ) ( true ?x ) ( or ) )",
            "( <= ( role Robot ) ( true a ) )",
            f"( {'( ' * 150} a {') ' * 150} )",
            f"( role {'x' * 20_000} )",
            f"( init ( cell {'9' * 6000} ) )",
            f"( <= ( legal Robot a ) {'( or ' * 100} b {') ' * 100} )",
            " ".join(junk(rng) for _ in range(rng.randrange(1, 30))),
        ]
    )


# --- kinds of requests --------------------------------------------------------------------------------
def binary(rng: random.Random) -> Case:
    return Case("raw bytes", rng.randbytes(rng.randrange(1, 3000)), True, (400, 405, 431))


def binary_body(rng: random.Random) -> Case:
    return Case("binary body", post(b"\xff" + rng.randbytes(rng.randrange(1, 3000))))


def parentheses(rng: random.Random) -> Case:
    text = "".join(rng.choice("()") for _ in range(rng.randrange(1, 200))) + ")" * 200
    return Case("parentheses", post(text.encode()))


def unbalanced_message(rng: random.Random) -> Case:
    # Cut or doubled parentheses may leave a message that can be read: then it is refused or unknown.
    return Case(
        "unbalanced", post(unbalanced(rng).encode()), statuses=(200, 400), body=r"busy\Z|error: \S.{5,600}\Z"
    )


def deep(rng: random.Random) -> Case:
    depth = rng.randrange(300, 50_000)
    close = ")" * (depth if rng.random() < 0.5 else 0)
    return Case("deep nesting", post(("( START h Robot " + "(" * depth + close).encode()))


def unknown_command(rng: random.Random) -> Case:
    name = rng.choice(["FOO", "STARTS", "PLAYER", "?", "<=", "()", "STOP!", "x" * 500, "(PLAY)", ""])
    return Case("unknown command", post(f"( {name} {junk(rng)} )".encode()))


def wrong_match(rng: random.Random) -> Case:
    command = rng.choice(["PLAY", "STOP", "ABORT", "play", "Stop"])
    moves = "" if command == "ABORT" else rng.choice(["NIL", "(a b)", "((f 1) noop)"])
    return Case(
        "wrong match id",
        post(f"( {command} no{rng.random()} {moves} )".encode()),
        statuses=(200,),
        body=r"busy\Z",
    )


def too_few(rng: random.Random) -> Case:
    command, shortest = rng.choice([("PLAY", 2), ("STOP", 1), ("ABORT", 1), ("START", 5), ("PREVIEW", 2)])
    words = " ".join("a" for _ in range(rng.randrange(shortest)))
    return Case("too few arguments", post(f"( {command} {words} )".encode()))


def odd_clock(rng: random.Random) -> Case:
    clock = rng.choice(["-1", "1.5", "ten", "(1)", "0x10", "1e9", "NaN", "??"])
    return Case("odd clock", post(f"( START h Robot ((role Robot)) {clock} 1 )".encode()))


def odd_id(rng: random.Random) -> Case:
    odd = rng.choice(["(a b)", "x" * 2000, "a\x07b", "\u200b", "()"])
    return Case("odd match id", post(f"( PLAY {odd} NIL )".encode()))


def unplayable(rng: random.Random) -> Case:
    rules = post(f"( START h Robot ({broken_rules(rng)}) 9 1 )".encode())
    # A server that still frees the match before has no place to look at other rules.
    return Case("unplayable rules", rules, statuses=(400, 200), body=r"error: \S.{5,600}\Z|busy\Z")


def odd_length(rng: random.Random) -> Case:
    value = rng.choice(["-1", "abc", "1e3", "99999999999999999999", "", "0x8", "8 8"])
    return Case("odd Content-Length", f"POST / HTTP/1.0\r\nContent-Length: {value}\r\n\r\n( INFO )".encode())


def huge_length(rng: random.Random) -> Case:
    return Case("huge Content-Length", post(b"( INFO )", rng.randrange(10**8, 10**15)), statuses=(413,))


def huge_body(rng: random.Random) -> Case:
    size = rng.choice([2_200_000, 3_000_000])
    return Case("huge body", b"POST / HTTP/1.0\r\n\r\n( " + b"a " * (size // 2), statuses=(413,))


def short_body(rng: random.Random) -> Case:
    body = b"( INFO )"[: rng.randrange(1, 8)]
    return Case("body ends early", post(body, 8), True)


def head_only(rng: random.Random) -> Case:
    text = "POST / HTTP/1.0\r\nContent-Length: 8\r\n"
    return Case("head ends early", text[: rng.randrange(1, len(text))].encode(), True)


def long_head(rng: random.Random) -> Case:
    line = "X-Filler: " + "x" * rng.choice([200, 20_000, 80_000]) + "\r\n"
    lines = line * (1 + 20_000 // len(line))
    return Case("long headers", f"POST / HTTP/1.0\r\n{lines}\r\n".encode(), statuses=(431,))


def odd_request_line(rng: random.Random) -> Case:
    line = rng.choice(
        ["HELLO", "GET", "POST /", "GET / FTP/1.0", "DELETE / HTTP/1.0", "HEAD / HTTP/1.0", "( INFO )"]
    )
    return Case("odd request line", f"{line}\r\n\r\n".encode(), statuses=(400, 405))


def odd_path(rng: random.Random) -> Case:
    path = rng.choice(
        ["%FF%FE", "%", "%zz", quote(junk(rng) + ")"), "favicon.ico", "../../etc/passwd", "%00", "PLAY%20x"]
    )
    # Parentheses with nothing between them ask for INFO, as they always have.
    request = f"GET /{path} HTTP/1.0\r\n\r\n".encode()
    if not unquote(path).strip("() "):
        return Case("odd path", request, statuses=(200,), body=r"\( \( name ")
    return Case("odd path", request, statuses=(400, 404, 405))


def chunked(rng: random.Random) -> Case:
    head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Case("chunked", head + b"8\r\n( INFO )\r\n0\r\n\r\n", statuses=(411,))


def silent(rng: random.Random) -> Case:
    return Case("silent", b"", True, (0,), "")


KINDS: list[tuple[int, Callable[[random.Random], Case]]] = [
    (6, binary), (6, binary_body), (8, parentheses), (12, unbalanced_message), (6, deep),
    (8, unknown_command), (8, wrong_match), (6, too_few), (5, odd_clock), (4, odd_id),
    (14, unplayable), (4, odd_length), (2, huge_length), (1, huge_body), (4, short_body),
    (4, head_only), (2, long_head), (4, odd_request_line), (4, odd_path), (2, chunked), (2, silent),
]  # fmt: skip


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    """That many hostile requests; the same seed gives the same ones."""
    rng = random.Random(seed)
    weights = [weight for weight, _ in KINDS]
    kinds = [kind for _, kind in KINDS]
    for _ in range(count):
        yield rng.choices(kinds, weights)[0](rng)


# --- replies ------------------------------------------------------------------------------------------
def wrong(case: Case, reply: bytes) -> str:
    """What is wrong with the reply to a case; empty if nothing."""
    if not reply:
        return "" if 0 in case.statuses else "no reply"
    head, _, body = reply.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.0 (\d+) ", head)
    if status is None or int(status.group(1)) not in case.statuses:
        return f"status line {head[:60]!r}"
    if not re.match(case.body, body.decode(errors="replace")):
        return f"body {body[:200]!r}"
    return ""


@dataclass
class Quiet:
    """A match that runs while the server is under fire, and what went wrong in it."""

    port: int
    problems: list[str]
    turns: int = 0

    def run(self, stop: threading.Event) -> None:
        """Play match after match until ``stop``, at least one."""
        number = 0
        while number == 0 or not stop.is_set():
            number += 1
            self._match(f"quiet{number}")

    def _match(self, name: str) -> None:
        def expect(message: str, wanted: str) -> None:
            reply = say(self.port, message)
            if reply != wanted:
                self.problems.append(f"{message[:60]}: {reply[:200]!r} instead of {wanted!r}")

        expect(f"( START {name} left ({COUNTING}) 10 10 )", "ready")
        moves = "NIL"
        for _ in range(30):
            expect(f"( PLAY {name} {moves} )", "(add 1)")
            self.turns += 1
            moves = "((add 1) (add 2))"
            time.sleep(0.05)
        expect(f"( STOP {name} {moves} )", "done")

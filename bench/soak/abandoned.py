"""Is everybody answered while a thousand connections to the server are abandoned?

    python -m bench.soak.abandoned --count 1000 --seconds 20

starts ``ggp serve``, of which one match thinks about a PLAY for long. Keeps that many connections open to it:
PLAYs of that match whose clients have closed, half-closed or wait in silence, messages that never end and
others that trickle. Some are replaced all the time. Meanwhile others play whole matches and ask INFO, STOP
and ABORT. Exit status 1 if one of them waited longer than ``--limit`` seconds (START: than its clock of 10)
or got a wrong reply.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

from bench.hostile import COUNTING
from bench.serving import ServerProcess, post, say
from players.processes.lifeline import resident_bytes

THINKS = 600
"""Playclock of the match that is thought about, seconds."""
KINDS = ("closed", "half-closed", "waiting", "trickling", "silent", "reset")
BEGUN = b"POST / HTTP/1.0\r\nContent-Length: 1000\r\n\r\n( PLAY "


class Abandoned:
    """Connections that nobody cares for; ``kinds`` counts how many were opened."""

    def __init__(self, port: int, count: int, seed: int) -> None:
        self.kinds: Counter[str] = Counter()
        self._port, self._count = port, count
        self._random = random.Random(seed)
        self._open: list[tuple[str, socket.socket]] = []

    def fill(self) -> None:
        """Open them all."""
        while len(self._open) < self._count:
            self._add()

    def run(self, stop: threading.Event) -> None:
        """Replace some and let others trickle until ``stop``."""
        while not stop.wait(0.05):
            for kind, peer in self._open:
                if kind == "trickling":
                    with contextlib.suppress(OSError):
                        peer.send(b"x", socket.MSG_DONTWAIT)
            for _ in range(self._count // 50):
                kind, peer = self._open.pop(self._random.randrange(len(self._open)))
                peer.close()
            self.fill()

    def close(self) -> None:
        """End them."""
        for _, peer in self._open:
            peer.close()

    def _add(self) -> None:
        kind = KINDS[sum(self.kinds.values()) % len(KINDS)]
        self.kinds[kind] += 1
        peer = socket.create_connection(("127.0.0.1", self._port), timeout=30)
        self._open.append((kind, peer))
        with contextlib.suppress(OSError):
            if kind == "trickling":
                peer.sendall(BEGUN)
            elif kind != "silent":
                peer.sendall(post(b"( PLAY busy NIL )"))
            if kind == "half-closed":
                peer.shutdown(socket.SHUT_WR)
            elif kind == "reset":
                linger = b"\1\0\0\0\0\0\0\0"
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                peer.close()
            elif kind == "closed":
                peer.close()


class Others:
    """Those who are to be answered. ``waits`` are all their messages' seconds, by command."""

    def __init__(self, port: int) -> None:
        self.waits: dict[str, list[float]] = {}
        self.problems: list[str] = []
        self._port = port

    def _expect(self, message: str, *wanted: str) -> None:
        began = time.monotonic()
        try:
            reply = say(self._port, message)
        except OSError as error:
            reply = f"no reply: {error}"
        self.waits.setdefault(message.split()[1], []).append(time.monotonic() - began)
        if not any(text in reply for text in wanted):
            self.problems.append(f"{message[:60]}: {reply[:200]!r} instead of {wanted}")

    def match(self, number: int) -> Iterator[Callable[[], None]]:
        """The messages of a match, one after another; every other one is aborted."""
        name = f"other{number}"
        yield lambda: self._expect(f"( START {name} left ({COUNTING}) 10 10 )", "ready")
        moves = "NIL"
        for _ in range(30):
            yield lambda moves=moves: self._expect(f"( PLAY {name} {moves} )", "(add 1)")
            moves = "((add 1) (add 2))"
            yield lambda: self._expect("( INFO )", "( status busy )")
        if number % 2:
            yield lambda: self._expect(f"( ABORT {name} )", "aborted")
        else:
            yield lambda: self._expect(f"( STOP {name} {moves} )", "done")


def main() -> int:
    """Run as a script; exit status 1 if anybody was not answered in time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="connections abandoned at the same time")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--limit", type=float, default=1.0, help="seconds to an answer")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    server = ServerProcess("--player", "bench.soak.thinker:Thinker", "--machine", "prover", "--matches", "2")
    others = Others(server.port)
    abandoned = Abandoned(server.port, options.count, options.seed)
    stop = threading.Event()
    try:
        if say(server.port, f"( START busy left ({COUNTING}) 2 {THINKS} )") != "ready":
            raise SystemExit("the match does not begin")
        abandoned.fill()
        crowd = threading.Thread(target=abandoned.run, args=(stop,))
        crowd.start()
        end = time.monotonic() + options.seconds
        number = 0
        while time.monotonic() < end:
            for act in others.match(number):
                act()
                time.sleep(0.01)
            number += 1
        stop.set()
        crowd.join()
        memory = resident_bytes([server.pid]) / 2**20
    finally:
        stop.set()
        abandoned.close()
        status = server.stop()
    print(f"abandoned: {dict(abandoned.kinds)}, {options.count} at the same time")
    late = 0
    for command, seconds in others.waits.items():
        late += sum(wait > (10 if command == "START" else options.limit) for wait in seconds)
        print(f"{command}: {len(seconds)} answered, slowest {max(seconds):.3f} s")
    print(f"later than {options.limit:g} s, START 10 s: {late}; wrong replies: {len(others.problems)}")
    print(f"server memory: {memory:.0f} MB")
    print(f"tracebacks in the log: {server.tracebacks}; exit status {status}")
    for problem in others.problems[:20]:
        print(f"  {problem}")
    return int(bool(late or others.problems or server.tracebacks or status))


if __name__ == "__main__":
    sys.exit(main())

"""Hostile requests: each gets a clear error, and the server and its other match do not notice.

``GGP_HOSTILE=10000`` sends that many instead of a thousand.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from bench import hostile
from bench.serving import say, send
from tests.ggp.server.live import ServeProcess

COUNT = int(os.environ.get("GGP_HOSTILE", "1000"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")
def test_hostile_requests_get_clear_errors_while_a_match_goes_on_untouched() -> None:
    server = ServeProcess("--player", "legal", "--machine", "prover", "--matches", "2")
    stop = threading.Event()
    quiet = hostile.Quiet(server.port, [])
    player = threading.Thread(target=quiet.run, args=(stop,))
    problems: list[str] = []
    try:
        for case in hostile.cases(200, seed=1):  # caches fill
            send(server.port, case.data, case.half_close)
        before = server.memory_mb()
        player.start()
        for case in hostile.cases(COUNT):
            reply = send(server.port, case.data, case.half_close)
            problem = hostile.wrong(case, reply)
            if problem:
                problems.append(f"{case.kind}: {problem}: {case.data[:100]!r}")
        stop.set()
        player.join(60)
        after = server.memory_mb()
    finally:
        stop.set()
        log = server.close()
    assert not problems
    assert not quiet.problems
    assert quiet.turns >= 30
    assert after - before < 20, f"memory went from {before:.0f} to {after:.0f} MB"
    assert "Traceback" not in log
    assert server.process.returncode == 0


def test_rules_that_never_come_to_an_end_are_ready_in_time_and_freed() -> None:
    endless = (
        "(role Robot) (init (n 0)) (legal Robot go) (num 0) (<= (num (s ?x)) (num ?x))"
        " (<= (next (n ?x)) (num ?x)) (<= terminal (true (n 1))) (goal Robot 100)"
    )
    with ServeProcess("--player", "legal", "--machine", "prover") as server:
        began = time.monotonic()
        reply = say(server.port, f"( START m1 Robot ({endless}) 2 1 )")
        assert reply == "ready" or reply.startswith("error: ")
        assert time.monotonic() - began < 10
        say(server.port, "( PLAY m1 NIL )")
        say(server.port, "( PLAY m1 (go) )")
        say(server.port, "( ABORT m1 )")
        assert "available" in say(server.port, "( INFO )")
    assert "Traceback" not in server.said

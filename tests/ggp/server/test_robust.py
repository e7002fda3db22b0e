"""Matches go on with legal moves when their processes are killed or stopped, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from ggp.protocol import messages
from ggp.protocol.dialect import request_bytes
from ggp.protocol.messages import spaced
from players.processes.lifeline import children, descendants, is_stopped, resident_bytes
from tests.ggp.server.live import (
    MARKS,
    START,
    LiveServer,
    Serve,
    ServeProcess,
    body_of,
    command,
    eventually,
    talk,
)

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux' /proc and processes")

TURNS = 9
STAIRS = (
    "(role me) (role other) (init (step 1)) (legal other pass)"
    " (<= (legal me (go ?n a)) (true (step ?n))) (<= (legal me (go ?n b)) (true (step ?n)))"
    " (<= (next (step ?m)) (true (step ?n)) (after ?n ?m)) (<= terminal (true (step 10)))"
    " (<= (goal me 100) (true (step 10))) (goal other 0)"
) + "".join(f" (after {n} {n + 1})" for n in range(1, TURNS + 1))
"""What is legal in one turn is not in the next: an answer from the turn before is seen."""


def pid_of(server: LiveServer) -> int:
    """The process of the only match, once there is one that lives."""
    while True:
        child = server.server.running[0]._main.child
        if child is not None and child.alive:
            return child.pid
        time.sleep(0.01)


@pytest.mark.slow
@LINUX
def test_a_match_goes_on_legally_whatever_happens_to_its_processes(serve: Serve) -> None:
    server = serve().begun("m1", "me", 30, 30, STAIRS)
    moves = "NIL"
    for turn in range(1, TURNS + 1):
        number = (signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT)[turn % 3]
        os.kill(pid_of(server), number)
        reply = spaced(server.say(f"( PLAY m1 {moves} )"))
        assert reply in (f"( go {turn} a )", f"( go {turn} b )")
        moves = f"(( go {turn} b ) pass)"
    match = server.server.running[0]
    assert match.status().restarts >= 6
    assert list(match.history.moves.values()) == [(f"(go {n} b)", "pass") for n in range(1, TURNS)]
    assert server.say(f"( STOP m1 {moves} )") == "done"
    eventually(lambda: bool(server.server._shown._ended))
    ended = server.server._shown._ended[-1]
    assert (ended.goals, ended.turns) == ("100 0", TURNS)


@pytest.mark.slow
@LINUX
def test_match_processes_stopped_or_killed_while_they_think_are_replaced(serve: Serve) -> None:
    server = serve(player="slow_players:Punctual", margin=2.0).begun("m1", "me", 30, 6, STAIRS)
    match = server.server.running[0]
    moves = "NIL"
    for turn, number in enumerate((signal.SIGCONT, signal.SIGSTOP, signal.SIGKILL), 1):
        answers: list[str] = []
        play = f"( PLAY m1 {moves} )"
        thread = threading.Thread(target=lambda play=play, to=answers: to.append(server.say(play)))  # type: ignore[misc]
        thread.start()
        eventually(lambda turn=turn: match._turn is not None and match._turn.id == turn)  # type: ignore[misc]
        eventually(lambda: match._turn is not None and match._turn.advanced)
        os.kill(pid_of(server), number)
        thread.join()
        assert spaced(answers[0]) in (f"( go {turn} a )", f"( go {turn} b )")
        moves = f"(( go {turn} b ) pass)"
    assert match.status().restarts == 2
    assert list(match.history.moves.values()) == [("(go 1 b)", "pass"), ("(go 2 b)", "pass")]


@pytest.mark.slow
@LINUX
def test_many_matches_leave_no_process_and_no_open_file(serve: Serve) -> None:
    server = serve()

    def cycle(number: int) -> None:
        assert server.say(messages.start_request(f"m{number}", "Robot", spaced(MARKS), 20, 20)) == "ready"
        assert server.say(f"( PLAY m{number} NIL )").startswith("(Mark")
        end = f"( ABORT m{number} )" if number % 2 else f"( STOP m{number} NIL )"
        assert server.say(end) in ("done", "aborted")

    def held() -> tuple[int, int]:
        spares = server.server._spares
        eventually(
            lambda: not server.server._closing and None not in (spares.match._spare, spares.standby._spare)
        )
        return len(list(Path("/proc/self/fd").iterdir())), len(descendants(os.getpid()))

    for number in range(2):
        cycle(number)
    before = held()
    for number in range(2, 16):
        cycle(number)
    eventually(lambda: all(now <= then for now, then in zip(held(), before, strict=True)))


@pytest.mark.slow
@LINUX
def test_what_a_match_process_leaves_behind_is_ended() -> None:

    def sleepers() -> list[int]:
        return [pid for pid in descendants(served.process.pid) if "1234" in command(pid)]

    with ServeProcess("--player", "slow_players:LeavesProcess", "--machine", "prover") as served:
        for end in ("( ABORT m1 )", "kill", "( STOP m1 NIL )"):
            assert body_of(talk(served.port, request_bytes(START, "x", "x"))) == "ready"
            eventually(lambda: bool(sleepers()))
            first = sleepers()
            if end == "kill":
                (parent,) = [p for p in descendants(served.process.pid) if set(first) & set(children(p))]
                os.kill(parent, signal.SIGKILL)
                body_of(talk(served.port, request_bytes("( ABORT m1 )", "x", "x")))
            else:
                assert body_of(talk(served.port, request_bytes(end, "x", "x"))) in ("done", "aborted")
            eventually(lambda first=first: not set(first) & set(sleepers()))  # type: ignore[misc]
    assert "Traceback" not in served.said


@LINUX
def test_processes_are_seen_stopped_and_their_memory_is_measured() -> None:
    assert not is_stopped(os.getpid())
    assert not is_stopped(2**22 + 1)
    assert resident_bytes([os.getpid(), 2**22 + 1]) > 1e6
    assert resident_bytes([]) == 0
    assert descendants(2**22 + 1) == []

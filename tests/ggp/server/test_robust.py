"""Matches go on legally whatever is sent or happens to their processes, however few files there are."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from ggp.protocol import messages
from ggp.protocol.dialect import request_bytes
from ggp.protocol.messages import spaced
from ggp.server.settings import FILES_PER_MATCH, OWN_FILES, ServerConfig
from players.processes.lifeline import children, descendants, is_stopped, resident_bytes
from tests.ggp.server.live import MARKS, START, LiveServer, Serve, ServeProcess, body_of, command, talk
from tests.places import ROOT
from tests.waiting import until

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
    assert int(match.status()["restarts"]) >= 6
    assert list(match.history.moves.values()) == [(f"(go {n} b)", "pass") for n in range(1, TURNS)]
    assert server.say(f"( STOP m1 {moves} )") == "done"
    until(lambda: bool(server.server._shown._ended))
    ended = server.server._shown._ended[-1]
    assert (ended["goals"], ended["turns"]) == ("100 0", str(TURNS))


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
        until(lambda turn=turn: match._turn is not None and match._turn.id == turn)  # type: ignore[misc]
        until(lambda: match._turn is not None and match._turn.advanced)
        os.kill(pid_of(server), number)
        thread.join()
        assert spaced(answers[0]) in (f"( go {turn} a )", f"( go {turn} b )")
        moves = f"(( go {turn} b ) pass)"
    assert match.status()["restarts"] == "2"
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
        until(lambda: not server.server._closing and None not in (spares.match._spare, spares.standby._spare))
        return len(list(Path("/proc/self/fd").iterdir())), len(descendants(os.getpid()))

    for number in range(2):
        cycle(number)
    before = held()
    for number in range(2, 16):
        cycle(number)
    until(lambda: all(now <= then for now, then in zip(held(), before, strict=True)))


@pytest.mark.slow
@LINUX
def test_what_a_match_process_leaves_behind_is_ended() -> None:

    def sleepers() -> list[int]:
        return [pid for pid in descendants(served.process.pid) if "1234" in command(pid)]

    with ServeProcess("--player", "slow_players:LeavesProcess", "--machine", "prover") as served:
        for end in ("( ABORT m1 )", "kill", "( STOP m1 NIL )"):
            assert body_of(talk(served.port, request_bytes(START, "x", "x"))) == "ready"
            until(lambda: bool(sleepers()))
            first = sleepers()
            if end == "kill":
                (parent,) = [p for p in descendants(served.process.pid) if set(first) & set(children(p))]
                os.kill(parent, signal.SIGKILL)
                body_of(talk(served.port, request_bytes("( ABORT m1 )", "x", "x")))
            else:
                assert body_of(talk(served.port, request_bytes(end, "x", "x"))) in ("done", "aborted")
            until(lambda first=first: not set(first) & set(sleepers()))  # type: ignore[misc]
    assert "Traceback" not in served.said


@LINUX
def test_processes_are_seen_stopped_and_their_memory_is_measured() -> None:
    assert not is_stopped(os.getpid())
    assert not is_stopped(2**22 + 1)
    assert resident_bytes([os.getpid(), 2**22 + 1]) > 1e6
    assert resident_bytes([]) == 0
    assert descendants(2**22 + 1) == []


# --- PLAYs that cannot be while a turn is thought about: every reply stays legal
WAYS = (
    "(role me) (role other) (init (at 0)) (kind a) (kind b) (legal other pass)"
    " (<= (legal me (go ?n ?k)) (true (at ?n)) (kind ?k))"
    " (<= (next (at ?m)) (does me (go ?n a)) (after ?n ?m))"
    " (<= (next (at ?o)) (does me (go ?n b)) (after ?n ?m) (after ?m ?o))"
    " (<= terminal (true (at 12))) (goal me 100) (goal other 0)"
) + "".join(f" (after {n} {n + 1})" for n in range(13))
"""A move says where the match stands, and what was played decides where it goes: an answer for another state
is seen to be illegal."""
MOVES = ("(go {at} a)", "(go {at} a) pass pass", "(?x go) (())", "(go 9 a) pass", "(go {at} a) fly")
JUNK = ("NIL", *(f"({moves})" for moves in MOVES))
DOORS = ["(choose 1)", "(choose 2)", "(choose 3)"]
HIDDEN_JUNK = {
    "percepts that nobody has": "{turn} (choose 1) (thunder (nonsense 1))",
    "percepts that are not terms": "{turn} noop (?x (()))",
    "a turn far ahead": "{ahead} (choose 2) ()",
    "a turn long ago": "0 NIL NIL",
    "a move that it never has": "{turn} (fly away) ()",
    "no percepts": "{turn} noop",
    "too much": "{turn} noop () () ()",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HIDDEN_JUNK)
def test_what_cannot_be_of_a_hidden_match_gets_a_legal_move_in_time(serve: Serve, kind: str) -> None:
    """Before each turn nonsense is told in its place: then the turn as it was, and every reply to that is
    legal."""
    server = serve().begun("m1", "candidate", 30, 10, Game.load("montyhall").text)
    doors = set(DOORS)
    turns = [
        ("NIL NIL", {"noop"}),
        ("noop ()", doors),
        ("{own} ()", {"noop"}),
        ("noop ((opened {other}))", {"stay", "switch"}),
    ]
    own = ""
    for turn, (told, legal) in enumerate(turns):
        began = time.monotonic()
        reply = server.say(f"( PLAY m1 {HIDDEN_JUNK[kind].format(turn=turn, ahead=turn + 1000)} )")
        assert reply in {"noop", "stay", "switch"} | doors or reply.startswith("error")
        assert time.monotonic() - began < 10
        other = 1 if own != "(choose 1)" else 2
        reply = server.say(f"( PLAY m1 {turn} {told.format(own=own, other=other)} )")
        assert reply in legal, f"turn {turn}: {reply}"
        own = reply if turn == 1 else own
    assert server.say(f"( STOP m1 4 {reply} () )") == "done"


def said_beside(server: LiveServer, message: str, junk: Sequence[str]) -> tuple[str, list[str]]:
    """The replies to a PLAY and to others that come while its turn is thought about."""
    match = server.server.running[0]
    # Nonsense may have been taken for turns of its own.
    before = 0 if match._turn is None else match._turn.id
    with ThreadPoolExecutor(len(junk)) as clients:
        answer = clients.submit(server.say, message)
        until(lambda: match._turn is not None and match._turn.id > before)
        replies = list(clients.map(server.say, [f"( PLAY m1 {text} )" for text in junk]))
    return answer.result(), replies


@pytest.mark.slow
@pytest.mark.parametrize("numbered", [False, True])
def test_a_hidden_turn_that_is_thought_about_is_disturbed_by_nothing_that_cannot_be(
    serve: Serve, numbered: bool
) -> None:
    game = Game.load("montyhall")
    server = serve(player="slow_players:Punctual", margin=1.0).begun("m1", "candidate", 30, 5, game.text)
    own: str | None = None
    for turn, legal in enumerate((["noop"], DOORS, ["noop"])):
        asked = messages.blind_request("PLAY", "m1", turn, own, [], numbered=numbered)
        junk = [text.format(turn=turn, ahead=turn + 1000) for text in HIDDEN_JUNK.values()]
        own, _ = said_beside(server, asked, junk)
        assert own in legal


@pytest.mark.slow
def test_a_turn_that_is_thought_about_is_not_disturbed(serve: Serve) -> None:
    server = serve(player="slow_players:Punctual", margin=1.0).begun("m1", "me", 30, 3, WAYS)
    moves = "NIL"
    for at in (0, 2, 4):
        junk = [text.format(at=at) for text in JUNK]
        answer, replies = said_beside(server, f"( PLAY m1 {moves} )", junk)
        # The player answers with the last of its moves after all of its time.
        assert answer == f"(go {at} b)"
        assert {*replies} <= {f"(go {at} a)", f"(go {at} b)"}
        moves = f"((go {at} b) pass)"


# --- Matches are played however few files may be open; where these are too few, one line says so
@given(limit=st.integers(1, 5000), matches=st.integers(1, 64))
def test_what_is_taken_is_within_the_limit(limit: int, matches: int) -> None:
    config = ServerConfig(matches=matches)
    try:
        fitted = config.fit(limit).limits
    except GdlError as error:
        needed = re.search(r"ulimit -n (\d+)", str(error.remedy))
        assert needed is not None
        assert limit < int(needed.group(1))
        assert config.fit(int(needed.group(1))).limits.backlog >= 1
        return
    assert min(fitted.most, fitted.most_per_address, fitted.backlog) >= 1
    assert OWN_FILES + FILES_PER_MATCH * matches + fitted.most + fitted.backlog <= limit
    assert config.fit(None) == config


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("limit", [64, 500])
def test_matches_are_played_with_few_files(limit: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ServeProcess("--player", "random", "--machine", "prover", files=limit) as served:
        crowd = [socket.create_connection(("127.0.0.1", served.port), timeout=20) for _ in range(limit + 20)]
        assert body_of(talk(served.port, request_bytes(START, "x", "x"))) == "ready"
        assert body_of(talk(served.port, request_bytes("( PLAY m1 NIL )", "x", "x"))).startswith("(Mark")
        assert body_of(talk(served.port, request_bytes("( STOP m1 NIL )", "x", "x"))) == "done"
        for one in crowd:
            one.close()
    assert "Traceback" not in served.said
    assert " ends: " not in served.said
    assert "watchdog" not in served.said
    assert len(served.said.splitlines()) < 60
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


@LINUX
@pytest.mark.parametrize(("limit", "words"), [(20, ()), (200, ("--matches", "16"))])
def test_too_few_files_are_told_at_once_with_the_remedy(limit: int, words: tuple[str, ...]) -> None:
    command = f'ulimit -n {limit}; exec "$0" -m ggp serve --port 0 "$@"'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert f"only {limit} files" in " ".join(ended.stderr.split())
    assert "ulimit -n" in ended.stderr
    assert len(ended.stderr.splitlines()) <= 8

"""The player's endpoint over real sockets: peers' bytes, several matches, crashes, lateness."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ggp.protocol.dialect import request_bytes
from ggp.protocol.messages import spaced
from ggp.server.clients.visitors import LOOPBACK
from players.processes.lifeline import descendants
from tests.ggp.server.live import LiveServer, Serve, ServeProcess, body_of, start, talk
from tests.waiting import runs, until

LEGAL = ("( mark 1 1 )", "( mark 2 2 )")


def move(reply: str) -> str:
    return spaced(reply).lower()


def at_once(server: LiveServer, message: str) -> list[str]:
    """The replies to a message that three clients send at the same time."""
    with ThreadPoolExecutor(3) as clients:
        return list(clients.map(server.say, [message] * 3))


# --- what matches there are --------------------------------------------------------------------------
@pytest.mark.slow
def test_matches_side_by_side_do_not_mix_and_one_too_many_is_busy(serve: Serve) -> None:
    server = serve(matches=2).begun()
    assert server.say(start("m2", "other")) == "ready"
    assert server.say(start("m3")) == "busy"
    assert "( status busy )" in server.say("( INFO )")
    assert move(server.say("( PLAY m1 NIL )")) == LEGAL[0]
    assert move(server.say("( PLAY m2 NIL )")) == "pass"
    assert move(server.say("( PLAY M1 (( mark 2 2 ) pass) )")) == LEGAL[0]
    assert move(server.say("( PLAY m2 (( mark 2 2 ) pass) )")) == "pass"
    assert server.say("( STOP m1 NIL )") == "done"
    assert "( status available )" in server.say("( INFO )")
    assert server.say(start("m3")) == "ready"
    assert server.say("( ABORT m2 )") == "aborted"
    assert server.say("( ABORT m2 )") == "aborted"
    assert server.say("( PLAY m2 NIL )") == "busy"


def test_a_match_that_standbys_have_no_processor_for_is_busy_and_one_alone_never(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ggp.server.admission.SHARE", 1e-6)
    server = serve(matches=3).begun()
    assert move(server.say("( PLAY m1 NIL )")) == LEGAL[0]
    until(lambda: "( status busy )" in server.say("( INFO )"))  # as soon as the standby has told what it took
    assert server.say(start("m2", "other")) == "busy"
    assert move(server.say("( PLAY m1 (( mark 2 2 ) pass) )")) == LEGAL[0]
    assert server.say("( STOP m1 NIL )") == "done"
    assert server.say(start("m2", "other")) == "ready"


def test_rules_that_cannot_be_played_are_refused_beside_another_match_too(serve: Serve) -> None:
    """Nobody waits for a standby that will measure nothing."""
    server = serve(matches=2).begun()
    assert "error" in server.say("( START m2 Robot ( ( role ( ) ) ) 600 600 )")


def test_rules_refused_after_their_startclock_take_no_place_from_the_next_match(serve: Serve) -> None:
    """Their START was answered ``ready``, since nothing was known against them yet."""
    server = serve(idle_grace=600.0)  # a slow machine must not free it as one whose manager has gone
    large = " ".join(f"(f {n} {n + 1})" for n in range(60_000))
    assert server.say(f"( START m1 Robot ((role Robot) {large} (<= (next ?x) (f ?x ?y))) 1 1 )") == "ready"
    until(lambda: server.server.running[0].refused)
    assert server.say(start("m1")) == "ready"


def test_a_start_sent_again_is_ready_and_another_match_of_that_id_is_busy(serve: Serve) -> None:
    server = serve(matches=3).begun()
    assert server.say(start("m1")) == "ready"
    assert server.say(start("m1", "other")) == "busy"


def test_a_start_sent_again_while_the_match_gets_ready_waits_for_the_same(serve: Serve) -> None:
    server = serve(matches=3)
    assert at_once(server, start("m1")) == ["ready"] * 3
    assert len(server.server.running) == 1


def test_an_end_sent_again_is_answered_again(serve: Serve) -> None:
    server = serve()
    for end, reply in (("( STOP m1 (( mark 1 1 ) pass) )", "done"), ("( ABORT m1 )", "aborted")):
        assert server.say(start("m1")) == "ready"
        assert [server.say(end) for _ in range(3)] == [reply] * 3
        assert not server.server.running
    assert server.say("( PLAY m1 NIL )") == "busy"


def test_a_match_whose_first_turn_was_missed_is_followed_from_the_second(serve: Serve) -> None:
    server = serve().begun()
    assert move(server.say("( PLAY m1 (( mark 2 2 ) pass) )")) == LEGAL[0]
    server.say("( PLAY m1 (( mark 1 1 ) wait) )")
    assert server.say("( PLAY m1 (( mark 1 1 ) wait) )") == "noop"


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules", ["( <= )", "( init ( a ) )", "( role x ) ( <= ( next ?x ) ?x )", "( role ( ) )", "?x"]
)
def test_rules_that_cannot_be_played_are_refused_with_a_reason(serve: Serve, rules: str) -> None:
    server = serve()
    reply = server.raw(request_bytes(f"( START m1 x ({rules}) 5 5)", "localhost", "foreign"))
    assert reply.startswith(b"HTTP/1.0 400 ")
    assert body_of(reply).startswith("error: ")
    assert "\n" not in body_of(reply)
    assert server.say(start("m2")) == "ready", "the match slot is free again"


def test_a_role_that_does_not_exist_is_refused(serve: Serve) -> None:
    assert "robot" in serve().say(start("m1", "nobody")).lower()


# --- turns ---------------------------------------------------------------------------------------------
def test_a_play_sent_again_gets_the_same_answer(serve: Serve) -> None:
    server = serve(player="random").begun()
    first = server.say("( PLAY m1 NIL )")
    assert [server.say("( PLAY m1 NIL )") for _ in range(3)] == [first] * 3
    server.say("( PLAY m1 (( mark 2 2 ) pass) )")
    assert server.say("( PLAY m1 (( mark 1 1 ) wait) )") == "noop"
    assert server.say("( play m1 ((MARK 1 1) wait) )") == "noop"


def test_a_play_sent_again_while_it_is_thought_about_gets_the_same_answer(serve: Serve) -> None:
    server = serve(player="slow_players:Punctual").begun("m1", playclock=2)
    assert list(map(move, at_once(server, "( PLAY m1 NIL )"))) == [LEGAL[1]] * 3


def test_the_managers_word_counts_not_the_players_memory(serve: Serve) -> None:
    server = serve().begun()
    assert move(server.say("( PLAY m1 NIL )")) == LEGAL[0]
    server.say("( PLAY m1 (( mark 2 2 ) pass) )")
    server.say("( PLAY m1 (( mark 2 2 ) wait) )")
    match = server.server.running[0]
    assert list(match.history.moves.values()) == [("(Mark 2 2)", "pass"), ("(Mark 2 2)", "wait")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "joint", ["(foo bar)", "((mark 9 9) pass)", "(noop noop)", "(pass)", "(a b c d)", "(?x ?y)", "(() ())"]
)
def test_moves_that_cannot_be_are_answered_from_what_is_known(serve: Serve, joint: str) -> None:
    server = serve().begun()
    server.say("( PLAY m1 NIL )")
    assert move(server.say(f"( PLAY m1 {joint} )")) in LEGAL
    assert server.say("( STOP m1 NIL )") == "done"


# --- lateness and crashes -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("player", "answers"),
    [("Sleeper", LEGAL), ("Broken", LEGAL), ("Dazed", LEGAL[-1:])],
    ids=["hangs", "fails", "hangs with a best move"],
)
def test_a_player_that_does_not_answer_is_answered_for(
    serve: Serve, player: str, answers: tuple[str, ...]
) -> None:
    server = serve(player=f"slow_players:{player}").begun("m1", playclock=1)
    assert move(server.say("( PLAY m1 NIL )")) in answers
    assert move(server.say("( PLAY m1 (( mark 1 1 ) pass) )")) in LEGAL
    assert server.say("( STOP m1 NIL )") == "done"


def test_a_player_that_cannot_prepare_is_logged_without_a_traceback(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(player="slow_players:Unready").begun()
    assert move(server.say("( PLAY m1 NIL )")) in LEGAL
    assert "ZeroDivisionError: this player cannot start at slow_players.py" in caplog.text
    assert "Traceback" not in caplog.text


def test_the_log_says_for_how_long_the_event_loop_stood_still_and_what_of_it_was_computing(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve()

    async def stand_still() -> None:
        time.sleep(0.5)

    with caplog.at_level("INFO", "ggp.server"):
        server.do(stand_still())
        until(lambda: "event loop late" in caplog.text)
    found = re.search(r'event="event loop late" seconds=(\S+) computed=(\S+)', caplog.text)
    assert found is not None
    assert float(found[1]) >= 0.3 and float(found[2]) < 0.25


@pytest.mark.parametrize("end", ["( ABORT m1 )", "( STOP m1 NIL )"])
def test_a_match_that_ends_while_it_gets_ready_is_not_told_to_be_ready(serve: Serve, end: str) -> None:
    server = serve(player="slow_players:Dreamer")
    with ThreadPoolExecutor(2) as clients:
        starts = [clients.submit(server.say, start("m1", startclock=60)) for _ in range(2)]
        until(lambda: server.server.match("m1", LOOPBACK) is not None)
        time.sleep(0.5)
        server.say(end)
        assert [reply.result(20) for reply in starts] == ["aborted", "aborted"]
    assert not server.server.running


def test_a_player_that_hangs_while_it_prepares_is_ready_in_time_and_answered_for(serve: Serve) -> None:
    server = serve(player="slow_players:Dreamer")
    server.warm()
    assert server.say(start("m1", startclock=1, playclock=1)) == "ready"
    assert move(server.say("( PLAY m1 NIL )")) in LEGAL
    assert move(server.say("( PLAY m1 (( mark 2 2 ) pass) )")) in LEGAL
    assert server.say("( PLAY m1 (( mark 1 1 ) wait) )") == "noop"


def test_a_manager_that_goes_away_leaves_no_match(serve: Serve) -> None:
    server = serve(idle_playclocks=0, idle_grace=0.5).begun("m1", startclock=1, playclock=1)
    until(lambda: not server.server.running)
    assert server.say("( PLAY m1 NIL )") == "busy"


def test_a_slow_sender_is_turned_away(serve: Serve) -> None:
    server = serve(read_seconds=0.3)
    assert server.raw(b"POST / HTTP/1.0\r\nContent-Len").startswith(b"HTTP/1.0 408 ")
    assert server.raw(b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n( PLAY").startswith(b"HTTP/1.0 408 ")


# --- the command -------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_ggp_serve_leaves_no_process_behind(number: signal.Signals) -> None:
    with ServeProcess("--player", "legal", "--machine", "prover", "--name", "x") as served:
        reply = talk(served.port, request_bytes(start("m1"), "localhost", "x"))
        assert body_of(reply) == "ready"
        below = descendants(served.process.pid)
        assert below
        served.process.send_signal(number)
        served.process.wait(20)
        until(lambda: not any(map(runs, below)))
    if number != signal.SIGKILL:
        assert served.process.returncode == 0
        assert "Traceback" not in served.said


def test_a_match_waits_a_part_of_its_startclock_for_earlier_ones_to_end(serve: Serve) -> None:
    server = serve()
    closing = server.server._closing

    async def ends_in(seconds: float) -> None:
        for _ in range(8):
            task = asyncio.create_task(asyncio.sleep(seconds))
            closing.add(task)
            task.add_done_callback(closing.discard)

    server.do(ends_in(0.3))
    assert server.say(start("m1")) == "ready"
    server.do(ends_in(4))
    assert server.say(start("m2", startclock=2)) == "busy"

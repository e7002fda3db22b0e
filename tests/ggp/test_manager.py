"""The game manager: what it sends, what it makes of answers, what it writes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from gdl.scramble import cipher_for
from gdl.syntax.parser import parse_rules
from ggp.manager import GameManager, TurnReport, in_words, parse_players
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import Abort, Play, Stop, spaced
from tests.ggp.puppets import Puppet, Reply, decent, hosted, marker
from tests.ggp.server.live import MARKS


def play(*players: Reply | str, **options: Any) -> tuple[MatchRecord, list[Puppet]]:
    """A match of MARKS between puppets and stand-ins."""
    return asyncio.run(hosted(players, MARKS, **options))


def test_requests_are_sent_byte_for_byte() -> None:
    _, (puppet,) = play(marker, "legal")
    name = f"127.0.0.1:{puppet.port}".encode()
    head = (
        b"POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\n"
        b"Receiver: %s\r\nContent-Type: text/acl\r\nContent-Length: %d\r\n\r\n"
    )
    bodies = [
        b"( START m1 Robot (" + spaced(MARKS).encode() + b") 2 1)",
        b"( PLAY m1 NIL )",
        b"( PLAY m1 (( Mark 1 1 ) pass ) )",
        b"( PLAY m1 (( Mark 1 1 ) pass ) )",
        b"( STOP m1 (noop pass ) )",
    ]
    assert puppet.requests == [head % (name, len(body)) + body for body in bodies]


def test_a_match_is_recorded_state_by_state() -> None:
    record, _ = play("legal", "legal")
    assert record.completed
    assert not record.aborted
    assert record.moves == [["( Mark 1 1 )", "pass"], ["( Mark 1 1 )", "pass"], ["noop", "pass"]]
    assert record.states[0] == "( ( step 1 ) )"
    assert record.states[-1] == "( ( marked 1 1 ) ( step 4 ) )"
    assert record.goals == [100, 50]
    assert record.errors == [["", ""]] * 4
    assert record.state_times == sorted(record.state_times)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("( mark 3 3 )", "IL ( mark 3 3 )"),
        ("", "IL "),
        ("(((", "IL ((("),
        ("pass", "IL pass"),
        ("(mark 1 1) (mark 1 1)", "IL (mark 1 1) (mark 1 1)"),
        (b"garbage without HTTP\r\n\r\n", "IL the reply is not HTTP"),
        (b"HTTP/1.0 200 OK\r\nContent-length: 400\r\n\r\nnoop", "IL the reply ends before"),
        (b"HTTP/1.0 200 OK\r\n\r\n\xff", "IL the message is not text"),
        (b"HTTP/1.0 500 Oops\r\n\r\nno", "IL the player answers 500 Oops"),
        ("x" * 100_000, "IL an answer of 100,000"),
        (b"", "CE"),
    ],
)
def test_unreadable_and_illegal_answers_are_replaced_and_noted(answer: str | bytes, error: str) -> None:
    record, _ = play(lambda m: answer if isinstance(m, Play) else decent(m), "legal")
    assert record.completed
    assert all(errors[0].startswith(error) for errors in record.errors[1:])
    assert all(errors[1] == "" for errors in record.errors)
    assert record.moves[0][0] in ("( Mark 1 1 )", "( Mark 2 2 )")


def test_a_reply_without_length_is_read_up_to_the_close() -> None:
    record, _ = play(lambda m: b"HTTP/1.0 200 OK\r\n\r\n " + marker(m).encode() + b"\r\n", "legal")
    assert [e[0] for e in record.errors] == ["", "", "", "IL ( MARK 1 1 )"]


def test_late_answers_and_absent_players_are_replaced_and_noted() -> None:
    record, _ = play(lambda m: None if isinstance(m, Play) else decent(m), "127.0.0.1:9")
    assert record.completed
    assert [e[0] for e in record.errors] == ["", "TO", "TO", "TO"]
    assert all(e[1].startswith("CE") for e in record.errors)


def test_players_are_told_the_moves_that_counted() -> None:
    record, (puppet,) = play(lambda m: decent(m, "nonsense"), "random", seed=5)
    reported = [m.moves for m in puppet.messages if isinstance(m, Play | Stop)]
    assert reported == [None, *(tuple(joint) for joint in record.moves)]


def test_the_same_seed_gives_the_same_match() -> None:
    assert play("random", "random", seed=3)[0].moves == play("random", "random", seed=3)[0].moves


def test_a_scrambled_match_shows_none_of_its_words_and_is_recorded_in_them() -> None:
    rules = parse_rules(MARKS)
    cipher = cipher_for(rules, 1)
    mark = cipher.scramble("(Mark 1 1)")
    record, (puppet,) = play(lambda m: decent(m, mark), "legal", cipher=cipher)
    assert [e[0] for e in record.errors] == ["", "", "", f"IL {mark}"]
    assert record.moves[0] == ["( Mark 1 1 )", "pass"]
    sent = b"".join(r.partition(b"\r\n\r\n")[2] for r in puppet.requests).lower()
    for word in (b"mark", b"robot", b"pass", b"noop", b"succ"):
        assert word not in sent
    assert b"legal" in sent


async def test_cancelling_a_match_aborts_it_at_the_players() -> None:
    async with Puppet(lambda m: None if isinstance(m, Play) else decent(m)) as puppet:
        players = parse_players(f"127.0.0.1:{puppet.port},legal")
        record = MatchRecord("m1", 5, 60, ["a", "b"])
        manager = GameManager(MARKS, ProverMachine(parse_rules(MARKS)), players, record)
        task = asyncio.create_task(manager.run())
        while not any(isinstance(m, Play) for m in puppet.messages):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert record.aborted and not record.completed
    assert puppet.messages[-1] == Abort("m1")


def test_too_few_players_are_an_error_that_names_the_roles() -> None:
    with pytest.raises(GdlError, match="Robot, other"):
        play("legal")


def test_a_name_of_a_player_is_no_address() -> None:
    for word in ("uct", "UCT", "uct:workers=2", "mine:Mine", "bots.mine:Mine"):
        with pytest.raises(GdlError, match=r"is a player, and no address.*ggp serve --player"):
            parse_players(f"{word},random")


def test_errors_are_told_in_words() -> None:
    said = [in_words(error) for error in ("TO", "CE refused", "IL ( mark 3 3 )", "not ready: busy", "")]
    assert said == ["no answer in time", "no connection: refused", "illegal move: ( mark 3 3 )",
                    "not ready: busy", ""]  # fmt: skip


def test_the_watcher_sees_every_turn() -> None:
    steps: list[TurnReport] = []
    play("legal", "legal", watch=steps.append)
    assert [(s.number, len(s.moves)) for s in steps] == [(0, 0), (1, 2), (2, 2), (3, 2)]

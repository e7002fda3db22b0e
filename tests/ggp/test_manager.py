"""The game manager: whom it asks, what it sends, what it makes of answers, what it writes, what it hides."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from gdl.scramble import cipher_for
from gdl.syntax.parser import parse_rules
from ggp import manager
from ggp.game import Game
from ggp.manager import (
    GameManager,
    RemotePlayer,
    StandIn,
    TurnReport,
    in_words,
    make_distinct,
    meet,
    parse_players,
)
from ggp.protocol.match_record import MatchRecord
from ggp.protocol.messages import Abort, Play, Stop, spaced
from ggp.tournament.store import Store
from tests.ggp.program import ggp
from tests.ggp.puppets import Puppet, Reply, decent, hosted, marker
from tests.ggp.server.live import MARKS, ServeProcess
from tests.ggp.told import Told


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


# --- Before a match players are asked who they are; who cannot play is found then
async def test_players_are_asked_for_their_names_and_those_called_alike_get_names_of_their_own() -> None:
    async with Puppet(decent) as first, Puppet(decent) as second:
        one, other = (f"127.0.0.1:{puppet.port}" for puppet in (first, second))
        players = parse_players(f"{one},random,{other},{one},random")
        assert await meet(players) == []
        assert [player.name for player in players] == ["Puppet", "random", "Puppet", "Puppet", "random"]
        make_distinct(players)
    names = f"Puppet at {one}", "random", f"Puppet at {other}", f"Puppet at {one} (2)", "random (2)"
    assert [player.name for player in players] == list(names)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("( ( name Puppet ) ( status busy ) )", "Puppet at ADDRESS is busy with another match"),
        ("busy", "ADDRESS at ADDRESS is busy"),
        ("available", ""),
        ("<!DOCTYPE html><title>a site</title>", "ADDRESS answers, but not as a player does"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n<html>", "ADDRESS answers, but not as a player does: .*404"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "ADDRESS answers, but not as a player does: the reply is not HTTP"),
        (b"", "ADDRESS cannot be reached|ADDRESS answers"),
        (None, "ADDRESS says nothing for"),
    ],
)
async def test_who_cannot_play_is_found_before_the_match(
    answer: str | bytes | None, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "INFO_SECONDS", 0.5)
    async with Puppet(lambda _: answer) as puppet:
        address = f"127.0.0.1:{puppet.port}"
        faults = await meet(parse_players(f"{address},random"))
        assert re.fullmatch(f"({fault.replace('ADDRESS', address)}).*", "".join(faults))


def test_nobody_and_nowhere_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "COMING_SECONDS", 0.2)
    faults = asyncio.run(meet(parse_players("127.0.0.1:9,no-such-host.invalid,random,localhost:9")))
    assert faults.pop().startswith("no player listens at localhost:9")
    assert len(faults) == 2
    assert re.search("no player listens at 127.0.0.1:9: .*ggp serve --port 9", faults[0])
    assert faults[1] == "there is no computer no-such-host.invalid"


async def test_a_player_that_is_just_starting_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    players = parse_players(f"127.0.0.1:{port}")
    meeting = asyncio.create_task(meet(players))
    await asyncio.sleep(0.5)
    async with Puppet(decent, port=port):
        assert await meeting == []
    assert players[0].name == "Puppet"


@pytest.mark.slow
def test_a_tournament_against_nobody_does_not_begin(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = f"http://127.0.0.1:{taken.getsockname()[1]}"
    ran = ggp("tournament", "tictactoe", "-p", f"random,{free}", "-r", "1", "-d", str(tmp_path / "t.sqlite"))
    assert ran.returncode == 2
    assert re.match(r"ggp: no player listens at 127.0.0.1:\d+: .*--anyway", ran.stderr), ran.stderr
    assert ran.stderr.count("\n") == 1


# --- Matches of hidden information over HTTP and in tournaments: what each role is sent, what is recorded
LONGER = [
    ("leduc", ("check", "check")),
    ("liarsdice", ("noop",) * 2),
    ("kriegtictactoe", ("noop",) * 2),
    ("phantomconnect", ("noop",) * 2),
    ("battleships", ("noop",) * 2),
    ("numberguessing", ("(name 7)",)),
    ("mastermind", ("noop",)),
]
"""Games with longer matches, and what their puppets answer: mostly what is never legal, so that the manager
draws their moves."""


def play_hidden(name: str, seed: int, *moves: str, numbered: bool = True) -> tuple[MatchRecord, list[Puppet]]:
    """A match between puppets that answer the same move in every turn; what is not legal is replaced."""
    replies: list[Reply] = [lambda message, move=move: decent(message, move) for move in moves]  # type: ignore[misc]
    # The name of a puppet's port is no part of what is compared.
    return asyncio.run(hosted(replies, Game.load(name).kif, 2, name="puppet", seed=seed, numbered=numbered))


def bodies(puppet: Puppet) -> list[bytes]:
    return [request.partition(b"\r\n\r\n")[2] for request in puppet.requests]


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("kuhn", ("bet", "call")),
        ("montyhall", ("switch",)),
        ("blindtictactoe", ("noop",) * 2),
        *[pytest.param(name, moves, marks=pytest.mark.slow) for name, moves in LONGER],
    ],
)
def test_roles_that_learnt_the_same_are_sent_the_same_bytes(
    name: str, moves: tuple[str, ...], numbered: bool
) -> None:
    told = Told()
    for seed in range(25 if name in ("kuhn", "montyhall") else 8):
        record, puppets = play_hidden(name, seed, *moves, numbered=numbered)
        for role, puppet in enumerate(puppets):
            learnt: tuple[object, ...] = ()
            for turn, body in enumerate(bodies(puppet)):
                if turn > 1:
                    learnt = (*learnt, record.moves[turn - 2][role], tuple(record.percepts[turn - 2][role]))
                told.note(
                    body[:6].decode(), role, (turn, learnt), body, str(record.moves[: max(0, turn - 1)])
                )
    assert told.compared > 0
    assert told.differences == []


def test_the_record_has_states_and_the_percepts_of_each_role() -> None:
    record, _ = play_hidden("kuhn", 3, "bet", "call")
    fields = record.to_dict()
    assert len(fields["percepts"]) == len(fields["moves"]) == len(fields["states"]) - 1
    deal = fields["moves"][0][2].split()
    assert fields["percepts"][0] == [[f"( card {deal[2]} )"], [f"( card {deal[3]} )"], []]
    assert sum(fields["goalValues"]) == 100


def test_chance_is_drawn_by_the_manager_and_by_nobody_else() -> None:
    deals = {play_hidden("kuhn", seed, "bet", "fold")[0].moves[0][2] for seed in range(60)}
    assert len(deals) == 6
    assert play_hidden("kuhn", 5, "bet", "fold")[0].moves == play_hidden("kuhn", 5, "bet", "fold")[0].moves
    machine = ProverMachine(Game.load("kuhn").rules)
    seats = [StandIn("a", "legal"), StandIn("b", "legal"), RemotePlayer("c", parse_players("h:1")[0].address)]  # type: ignore[union-attr]
    with pytest.raises(GdlError, match="random is chance"):
        GameManager("", machine, seats, MatchRecord("m", 1, 1, []))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("kuhn", ()),
        ("montyhall", ("--percepts-only",)),
        ("blindtictactoe", ("--scramble",)),
        ("kriegtictactoe", ("--percepts-only", "--scramble")),
        ("mastermind", ()),
    ],
)
def test_served_players_play_games_of_hidden_information(
    name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    roles = [role for role in Game.load(name).initial.legal if role != "random"]
    out = tmp_path / "match.json"
    servers = [ServeProcess("--player", "uct", "--margin", "0.5") for _ in roles]
    try:
        places = ",".join(f"http://127.0.0.1:{s.port}" for s in servers)
        clocks = ("--clock", "6,3")
        ran = ggp("host", name, "--players", places, *clocks, *options, "--output", str(out), timeout=150)
    finally:
        logs = [s.close() for s in servers]
    assert ran.returncode == 0, ran.stdout + ran.stderr + "".join(logs)
    fields = json.loads(out.read_text())
    assert fields["isCompleted"]
    assert not any(error for errors in fields["errors"] for error in errors)
    assert all("Traceback" not in log and "fit no state" not in log for log in logs), "".join(logs)


@pytest.mark.slow
def test_a_tournament_of_a_game_with_chance(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    ran = ggp(
        "tournament", "kuhn", "-p", "pimc,random", "-d", str(path), "--rounds", "2",
        "--clock", "1,0.3", "--workers", "1", timeout=200,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    records = [record for _, record in Store(path, writing=False).records()]
    assert len(records) == 4  # each has each role in each round
    for record in records:
        assert record["isCompleted"] and record["playerNamesFromHost"][2] == "random"
        assert not any(error for errors in record["errors"] for error in errors)
        assert len(record["percepts"]) == len(record["moves"])

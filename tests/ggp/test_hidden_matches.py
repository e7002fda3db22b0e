"""Matches of hidden information over HTTP and in tournaments: what each role is sent, what is recorded."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from pathlib import Path

import pytest

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from ggp.game import Game
from ggp.manager import GameManager, RemotePlayer, StandIn, parse_players
from ggp.protocol.match_record import MatchRecord
from ggp.tournament.store import Store
from tests.ggp.program import ggp
from tests.ggp.puppets import Puppet, Reply, decent, hosted
from tests.ggp.server.live import ServeProcess

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


def play(name: str, seed: int, *moves: str, numbered: bool = True) -> tuple[MatchRecord, list[Puppet]]:
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
    sent: dict[object, set[bytes]] = defaultdict(set)
    times: dict[object, int] = defaultdict(int)
    for seed in range(25 if name in ("kuhn", "montyhall") else 8):
        record, puppets = play(name, seed, *moves, numbered=numbered)
        for role, puppet in enumerate(puppets):
            learnt: tuple[object, ...] = (role,)
            for turn, body in enumerate(bodies(puppet)):
                kind = body[:6]
                if turn > 1:
                    learnt = (*learnt, record.moves[turn - 2][role], tuple(record.percepts[turn - 2][role]))
                sent[learnt, turn, kind].add(body)
                times[learnt, turn, kind] += 1
    assert max(times.values()) > 3
    assert {key: len(each) for key, each in sent.items() if len(each) > 1} == {}


def test_the_record_has_states_and_the_percepts_of_each_role() -> None:
    record, _ = play("kuhn", 3, "bet", "call")
    fields = record.to_dict()
    assert len(fields["percepts"]) == len(fields["moves"]) == len(fields["states"]) - 1
    deal = fields["moves"][0][2].split()
    assert fields["percepts"][0] == [[f"( card {deal[2]} )"], [f"( card {deal[3]} )"], []]
    assert sum(fields["goalValues"]) == 100


def test_chance_is_drawn_by_the_manager_and_by_nobody_else() -> None:
    deals = {play("kuhn", seed, "bet", "fold")[0].moves[0][2] for seed in range(60)}
    assert len(deals) == 6
    assert play("kuhn", 5, "bet", "fold")[0].moves == play("kuhn", 5, "bet", "fold")[0].moves
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

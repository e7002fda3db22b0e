"""The recorded playthroughs pin how our games behave, on every machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from gdl.errors import MoveError
from gdl.information import Information, information_of
from gdl.machine import Machine
from ggp.commands.rules.playthrough import command
from ggp.game import Game
from ggp.traces import read_trace, record, verify_game
from tests.games.known import OPENINGS
from tests.games.rules_of_games import NAMES, prover, rules
from tests.places import GAMES

PLAYTHROUGHS = GAMES / "playthroughs"
MOST_BYTES = 60_000


def propnet(name: str) -> Machine:
    """A game's propnet machine."""
    return Game.load(GAMES / f"{name}.kif").machine("propnet")


def test_every_game_has_one_playthrough_and_there_are_no_others() -> None:
    assert sorted(path.stem for path in PLAYTHROUGHS.glob("*.jsonl")) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("machine", [prover, propnet])
@pytest.mark.parametrize("name", NAMES)
def test_machine_replays_the_playthrough(name: str, machine: Callable[[str], Machine]) -> None:
    fault, steps = verify_game(machine(name), read_trace(PLAYTHROUGHS / f"{name}.jsonl"))
    assert fault is None
    assert steps > 4


@pytest.mark.parametrize("name", NAMES)
def test_playthrough_is_short_and_shows_an_end(name: str) -> None:
    path = PLAYTHROUGHS / f"{name}.jsonl"
    assert path.stat().st_size <= MOST_BYTES
    lines = list(read_trace(path))
    assert lines[0]["type"] == "game" and lines[0]["game"] == name
    assert lines[0]["rules"] == len(rules(name)), "the rules have changed since: record it anew"
    ends = [line for line in lines if line["type"] == "step" and line["terminal"]]
    assert ends
    playing = [place for place, role in enumerate(lines[0]["roles"]) if role != "random"]
    assert all(line["goals"][place] is not None for line in ends for place in playing)
    if information_of(rules(name)) is Information.HIDDEN:
        steps = [line for line in lines if line["type"] == "step" and line["joint"]]
        assert any(seen for line in steps for seen in line["percepts"])
    assert lines[-1]["status"] == "ok"
    assert lines[-1]["states"] == sum(line["type"] == "step" for line in lines)


@pytest.mark.parametrize("name", ["tictactoe", "tron", "checkers"])
def test_machines_record_the_same_playthrough(name: str) -> None:
    traces = [
        list(record(machine(name), name, seed=7, playouts=2, opening=OPENINGS.get(name, "")))
        for machine in (prover, propnet)
    ]
    assert traces[0] == traces[1]


def test_a_long_match_is_kept_at_its_ends() -> None:
    whole = [orjson.loads(line) for line in record(prover("othello"), "othello", seed=1)]
    cut = [orjson.loads(line) for line in record(prover("othello"), "othello", seed=1, max_bytes=20_000)]
    steps = [line for line in cut if line["type"] == "step"]
    assert steps[0]["s"] == 0 and steps[-1]["terminal"]
    assert len(steps) < sum(line["type"] == "step" for line in whole)
    assert all(step in whole for step in steps)
    assert verify_game(prover("othello"), cut) == (None, len(steps))


def test_an_illegal_move_in_an_opening_is_an_error() -> None:
    with pytest.raises(MoveError, match="not legal"):
        list(record(prover("tictactoe"), "tictactoe", opening="(mark b 2) (mark b 2)"))


def test_command_prints_a_trace_that_verify_replays(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    command("nim", seed=3, playouts=2, opening="(take a 2)")
    output = tmp_path / "nim.jsonl"
    output.write_bytes(capsysbinary.readouterr().out)
    assert verify_game(prover("nim"), read_trace(output))[0] is None
    first = next(line for line in read_trace(output) if line["type"] == "step")
    assert first["joint"] == ["(take a 2)", "noop"]

"""What holds for every one of our games, whatever it is; their recorded playthroughs pin how they behave."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.checks.run import Severity, check
from gdl.errors import MoveError
from gdl.grounding.pipeline import ground
from gdl.information import Information, information_of
from gdl.machine import Machine
from gdl.syntax.format import format_text
from ggp.commands.rules.playthrough import command
from ggp.game import Game
from ggp.traces import read_trace, record, verify_game
from tests.games.known import OPENINGS
from tests.games.rules_of_games import NAMES, declared, options, prover, rules, text
from tests.places import GAME_FILES, GAMES, in_turn

LONGEST = {
    "amazons": 112, "atarigo": 49, "atomix": 40, "backgammon": 3_000, "battleofsexes": 5, "battleships": 18,
    "biddingtictactoe": 18, "blindtictactoe": 18, "blotto": 1, "breakthrough": 209, "cantstop": 7_000,
    "centipede": 6,
    "checkers": 100, "chess": 12_000, "chinesecheckers": 90, "chomp": 20, "chopsticks": 60,
    "connectfour": 42, "couples": 25, "crosssums": 13, "darkhex": 32, "eightpuzzle": 30, "einstein": 400,
    "fifteen": 80, "frogs": 15, "goofspiel": 10, "guarini": 30, "hanoi": 40, "hex": 81, "hidato": 24,
    "hiddengoofspiel": 10, "icemaze": 40, "kalah": 200, "klotski": 200, "knightstour": 24,
    "kriegtictactoe": 18, "kuhn": 4, "leduc": 11, "liarsdice": 14, "lightsout": 15, "mastermind": 14,
    "merlin": 12, "minesweeper": 25, "missionaries": 25, "montyhall": 4, "nim": 12, "ninemensmorris": 100,
    "nonogram": 16, "numberguessing": 9, "othello": 120, "pegsolitaire": 31, "pentominoes": 6,
    "phantomconnect": 56, "phantomgo": 1_560, "pig": 20_000, "pocketcube": 20, "prisonersdilemma": 10,
    "publicgoods": 5, "queens": 8,
    "racingkings": 1_500, "rockpaperscissors": 5, "rubikscube": 100, "rushhour": 80, "sealedauction": 2,
    "snakes": 200,
    "sokoban": 600,
    "soma": 7, "staghunt": 5, "sudoku": 47, "tents": 7, "threenim": 12, "threetictactoe": 25,
    "tictactoe": 9, "trianglepegs": 13, "tron": 40, "twentyfortyeight": 4_000, "waterjugs": 15,
    "wolfgoat": 20, "makruk": 7_500, "minixiangqi": 2_300, "shatranj": 11_500, "xiangqi": 3_100,
}  # fmt: skip
"""No match takes more moves than this; of other games :data:`USUAL_LONGEST`."""
USUAL_LONGEST = 400


def test_there_are_enough_games_and_each_is_known_here() -> None:
    assert len(NAMES) >= 20
    assert set(LONGEST) <= set(NAMES)
    assert len(NAMES) == len(list(GAMES.rglob("*.kif"))), "two games have one name"


def test_readme_names_every_game() -> None:
    readme = (GAMES / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"[{name}]({GAME_FILES[name].relative_to(GAMES)})" not in readme] == []


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_rules_have_no_finding_worth_a_warning(name: str) -> None:
    assert [str(d) for d in check(rules(name)) if d.severity is not Severity.INFO] == []


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_text_is_in_canonical_format(name: str) -> None:
    assert format_text(text(name), name) == text(name)


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_base_and_input_are_exactly_what_the_rules_can_reach(name: str) -> None:
    bases, inputs = declared(name)
    reached = ground(rules(name))
    assert set(reached.bases) == bases
    moves = {(role, move) for role, own in zip(reached.roles, reached.moves, strict=True) for move in own}
    assert moves == inputs


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_header_tells_roles_state_moves_end_goals_and_size(name: str) -> None:
    header = text(name).partition("\n\n")[0].splitlines()
    assert all(line.startswith(";") and len(line) <= 110 for line in header)
    for word in ("Roles", "State", "Moves", "Ends", "Goals"):
        assert any(line.startswith(f"; {word} ") for line in header), word
    bases, inputs = declared(name)
    moves = len(inputs) // len(prover(name).roles)
    assert any(line.startswith(f"; Size    {len(bases)} base propositions, {moves} moves") for line in header)


@pytest.mark.slow
@pytest.mark.parametrize("name", in_turn(NAMES))
@settings(max_examples=4, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_matches_keep_to_base_and_input_and_end_with_one_goal_each(name: str, seed: int) -> None:
    rng = random.Random(seed)
    machine = prover(name)
    bases, inputs = declared(name)
    state = machine.initial_state()
    for _ in range(LONGEST.get(name, USUAL_LONGEST) + 1):
        assert state.propositions <= bases
        goals = [goal for role, goal in state.goals.items() if role != "random"]
        assert all(goal is not None and 0 <= goal <= 100 for goal in goals)
        if state.terminal:
            return
        choices = options(state)
        for role, moves in enumerate(choices):
            assert moves, f"{machine.roles[role]} has no legal move"
            assert {(machine.roles[role], machine.move(role, m)) for m in moves} <= inputs
        state = machine.next_state(state, [rng.choice(moves) for moves in choices])
    pytest.fail("the match does not end")


# --- The recorded playthroughs pin how our games behave, on every machine
PLAYTHROUGHS = GAMES / "playthroughs"
MOST_BYTES = 60_000


def propnet(name: str) -> Machine:
    """A game's propnet machine."""
    return Game.load(GAME_FILES[name]).machine("propnet")


def test_every_game_has_one_playthrough_and_there_are_no_others() -> None:
    assert sorted(path.stem for path in PLAYTHROUGHS.glob("*.jsonl")) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("machine", [prover, propnet])
@pytest.mark.parametrize("name", in_turn(NAMES))
def test_machine_replays_the_playthrough(name: str, machine: Callable[[str], Machine]) -> None:
    fault, steps = verify_game(machine(name), read_trace(PLAYTHROUGHS / f"{name}.jsonl"))
    assert fault is None
    assert steps > 4


@pytest.mark.parametrize("name", in_turn(NAMES))
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

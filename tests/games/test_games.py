"""Our board games, move by move beside an oracle of their own each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gdl.machine import State
from ggp.game import Game
from ggp.rule_files import find_rules_file, installed_game
from ggp.traces import find_traces
from tests.games.known import OWN_TESTS
from tests.games.oracles import boards
from tests.games.oracles.catalogue import ORACLES
from tests.games.oracles.oracle import LETTERS, Oracle, difference
from tests.games.rules_of_games import in_control, play, state_of, successors
from tests.places import GAME_FILES, GAMES, in_turn

NAMES = [name for name, path in GAME_FILES.items() if path.parent.name == "boards" and name not in OWN_TESTS]
FEW, MANY = 150, 500
"""Positions of a usual run; and of a slow one, by moves at random, and as many by keen ones."""


def oracle_of(name: str) -> Callable[[], Oracle]:
    """What begins a match of a game by its oracle."""
    found: Callable[[], Oracle] = getattr(boards, name)
    return found


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_random_matches_agree_with_the_oracle(name: str) -> None:
    found, done = difference(Game.load(name).machine("propnet"), oracle_of(name), FEW, 1)
    assert not found
    assert done >= FEW


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_random_matches_agree_with_the_oracle(name: str) -> None:
    machine = Game.load(name).machine("propnet")
    assert not difference(machine, oracle_of(name), MANY, 2)[0]
    assert not difference(machine, oracle_of(name), MANY, 3, keen=0.5)[0]


def test_every_game_has_tests_of_its_own_or_an_oracle_and_is_found_by_its_name() -> None:
    assert sorted(GAME_FILES) == sorted([*NAMES, *ORACLES, *OWN_TESTS])
    for name in NAMES:
        assert callable(oracle_of(name))
    for name in GAME_FILES:
        assert find_rules_file(name) == find_rules_file(f"{name.upper()}.KIF") == GAME_FILES[name]
        assert installed_game(name) == GAME_FILES[name]


def test_the_rules_of_a_trace_are_found_in_subfolders() -> None:
    for games in (None, GAMES):
        (trace,) = find_traces([GAMES / "playthroughs" / "clobber.jsonl"], games)
        assert trace.rules == GAME_FILES["clobber"]


def test_a_slip_in_the_rules_is_found(tmp_path: Path) -> None:
    """The comparison is no formality: rules that forbid one move of many differ at once."""
    text = GAME_FILES["clobber"].read_text(encoding="utf-8")
    slip = text.replace("(next_column e f)", "(next_column f e)").replace("(next_column f e)\n", "", 1)
    assert slip != text
    path = tmp_path / "clobber.kif"
    path.write_text(slip, encoding="utf-8")
    assert difference(Game.load(path).machine("propnet"), oracle_of("clobber"), FEW, 1)[0]


def value(state: State, known: dict[State, int]) -> int:
    """What a state is worth to white, or to the first role, by trying all moves."""
    if state not in known:
        if state.terminal:
            known[state] = next(iter(state.goals.values())) or 0
        else:
            best = max if in_control(state).name == next(iter(state.legal)) else min
            known[state] = best(value(after, known) for after in successors(state))
    return known[state]


def test_hexapawn_is_won_by_the_second_side() -> None:
    known = dict[State, int]()
    start = Game.load("hexapawn").machine("propnet").initial_state()
    assert value(start, known) == 0
    assert value(play(start, "(move b 1 b 2) (move a 3 a 2)"), known) == 100


def test_the_lost_positions_of_wythoff_follow_the_golden_ratio() -> None:
    machine, known = Game.load("wythoff").machine("propnet"), dict[State, int]()
    lost = {
        (x, y)
        for x in range(11)
        for y in range(10)
        if value(state_of(machine, [f"(cell {LETTERS[x]} {y + 1} queen)", "(control first)"]), known) == 0
    }
    golden = (1 + 5**0.5) / 2
    pairs = {(int(n * golden), int(n * golden) + n) for n in range(1, 5)}
    assert {at for at in lost if at != (0, 0)} == {
        at for a, b in pairs for at in ((a, b), (b, a)) if at[0] < 11 and at[1] < 10
    }

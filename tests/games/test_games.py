"""Our games, move by move beside an oracle of their own each."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.machine import State
from ggp.game import Game
from ggp.rule_files import find_rules_file, installed_game
from ggp.traces import find_traces
from tests.games.known import OWN_TESTS
from tests.games.oracles.catalogue import PARTS, oracle_of, oracles_in
from tests.games.oracles.match import LETTERS, difference
from tests.games.rules_of_games import in_control, play, state_of, successors
from tests.places import GAME_FILES, GAMES, in_turn

NAMES = [name for name in GAME_FILES if name not in OWN_TESTS]
FEW, MANY = 150, 300
"""Positions of a usual run; and of a slow one, by moves at random, and half as many by keen ones."""


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
    assert sorted(NAMES) == sorted(name for part in PARTS for name in oracles_in(part))
    for name in GAME_FILES:
        assert find_rules_file(name) == find_rules_file(f"{name.upper()}.KIF") == GAME_FILES[name]
        assert installed_game(name) == GAME_FILES[name]


def test_the_rules_of_a_trace_are_found_in_subfolders() -> None:
    for games in (None, GAMES):
        (trace,) = find_traces([GAMES / "playthroughs" / "clobber.jsonl"], games)
        assert trace.rules == GAME_FILES["clobber"]


@pytest.mark.parametrize(
    ("name", "right", "wrong", "told"),
    [
        ("staghunt", "(role ?r)\n  (choice ?m)", "(role ?r)\n  (pays ?m stag 3 0)", "left: "),
        ("staghunt", "(pays hare hare 2 2)", "(pays hare hare 2 1)", "facts: "),
        ("staghunt", "(worth 3 15)", "(worth 3 16)", "goals: "),
        ("staghunt", "(true (round 5))", "(true (round 4))", "terminal: "),
        ("hiddengoofspiel", "(sees ?r tie)", "(sees ?r draw)", "percepts: "),
    ],
)
def test_a_slip_in_the_rules_is_found(name: str, right: str, wrong: str, told: str, tmp_path: Path) -> None:
    """The comparison is no formality: it finds every kind of slip."""
    text = GAME_FILES[name].read_text(encoding="utf-8")
    path = tmp_path / f"{name}.kif"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    found, _ = difference(Game.load(path).machine("propnet"), oracle_of(name), 1_000, 1)
    assert found.startswith(told), found


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

"""What holds for every one of our games, whatever it is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.checks.run import Severity, check
from gdl.grounding.pipeline import ground
from gdl.syntax.format import format_text
from tests.games.rules_of_games import NAMES, declared, options, prover, rules, text
from tests.places import GAMES

LONGEST = {
    "amazons": 112, "atarigo": 49, "backgammon": 3_000, "battleships": 18, "biddingtictactoe": 18,
    "blindtictactoe": 18, "breakthrough": 209, "checkers": 100, "chess": 12_000, "chinesecheckers": 90,
    "chomp": 20, "connectfour": 42, "eightpuzzle": 30, "hanoi": 40, "hex": 81, "kalah": 200,
    "knightstour": 24, "kriegtictactoe": 18, "kuhn": 4, "leduc": 11, "liarsdice": 14, "lightsout": 15,
    "mastermind": 14, "montyhall": 4, "nim": 12, "ninemensmorris": 100, "numberguessing": 9,
    "othello": 120, "pegsolitaire": 31, "pentominoes": 6, "phantomconnect": 56, "prisonersdilemma": 10,
    "queens": 8, "rockpaperscissors": 5, "snakes": 200, "sokoban": 600, "soma": 7, "sudoku": 47,
    "tictactoe": 9, "tron": 40, "twentyfortyeight": 4_000,
}  # fmt: skip
"""No match takes more moves than this."""


def test_there_are_enough_games_and_each_is_known_here() -> None:
    assert len(NAMES) >= 20
    assert sorted(LONGEST) == NAMES


def test_readme_names_every_game() -> None:
    readme = (GAMES / "README.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"[{name}]({name}.kif)" not in readme] == []


@pytest.mark.parametrize("name", NAMES)
def test_rules_have_no_finding_worth_a_warning(name: str) -> None:
    assert [str(d) for d in check(rules(name)) if d.severity is not Severity.INFO] == []


@pytest.mark.parametrize("name", NAMES)
def test_text_is_in_canonical_format(name: str) -> None:
    assert format_text(text(name), name) == text(name)


@pytest.mark.parametrize("name", NAMES)
def test_base_and_input_are_exactly_what_the_rules_can_reach(name: str) -> None:
    bases, inputs = declared(name)
    reached = ground(rules(name))
    assert set(reached.bases) == bases
    moves = {(role, move) for role, own in zip(reached.roles, reached.moves, strict=True) for move in own}
    assert moves == inputs


@pytest.mark.parametrize("name", NAMES)
def test_header_tells_roles_state_moves_end_goals_and_size(name: str) -> None:
    header = text(name).partition("\n\n")[0].splitlines()
    assert all(line.startswith(";") and len(line) <= 110 for line in header)
    for word in ("Roles", "State", "Moves", "Ends", "Goals"):
        assert any(line.startswith(f"; {word} ") for line in header), word
    bases, inputs = declared(name)
    moves = len(inputs) // len(prover(name).roles)
    assert any(line.startswith(f"; Size    {len(bases)} base propositions, {moves} moves") for line in header)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=4, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_matches_keep_to_base_and_input_and_end_with_one_goal_each(name: str, seed: int) -> None:
    rng = random.Random(seed)
    machine = prover(name)
    bases, inputs = declared(name)
    state = machine.initial_state()
    for _ in range(LONGEST[name] + 1):
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

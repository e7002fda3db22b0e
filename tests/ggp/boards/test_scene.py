"""Whose turn it is, by the rules alone; and digits that are one number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules, parse_terms
from gdl.terms import Term
from ggp.boards.scene import TurnFinder, digit_chains, joined_digits
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.ggp.boards.test_moves_in_words import walk


@pytest.mark.parametrize("game", ["tictactoe", "chess", "hex", "chinesecheckers", "kalah", "nim"])
def test_the_turn_is_the_role_with_a_choice_in_scrambled_rules_too(game: str) -> None:
    hidden, names = scramble(Game.load(game).rules, seed=7)
    machine = make_machine(hidden, "prover")
    turns = TurnFinder(hidden, machine.roles)
    assert turns.relation == names["control"].lower()
    for state in walk(machine, 12):
        role = turns.role(state.propositions)
        assert role is not None
        others = [other for other in range(len(machine.roles)) if other != role]
        assert all(len(machine.legal_moves(state, other)) == 1 for other in others)
        assert sum(map(turns.tells, state.propositions)) == 1


@pytest.mark.parametrize("game", ["tron", "rockpaperscissors", "prisonersdilemma", "sokoban", "queens"])
def test_games_without_turns_have_none(game: str) -> None:
    machine = Game.load(game).machine("prover")
    turns = TurnFinder(machine.rules, machine.roles)
    assert turns.relation is None
    assert turns.role(machine.initial_state().propositions) is None


def test_nobody_has_the_turn_while_all_bid() -> None:
    machine = Game.load("biddingtictactoe").machine("prover")
    turns = TurnFinder(machine.rules, machine.roles)
    state = machine.initial_state()
    assert turns.role(state.propositions) is None
    assert turns.role(state.play("(bid 2)", "(bid 1)").propositions) == 0


SOKOBAN = ("ones", "tens", "hundreds")


@pytest.mark.parametrize(
    ("game", "chains"),
    [("sokoban", (SOKOBAN,)), ("chess", (("units", "tens"),)), ("checkers", ()), ("kalah", ())],
)
def test_the_digits_of_counters_from_the_lowest_up(game: str, chains: tuple[tuple[str, ...], ...]) -> None:
    assert digit_chains(Game.load(game).rules) == chains


@given(st.integers(0, 999))
def test_a_number_is_read_from_its_digits(number: int) -> None:
    digits = [Term(name, Term(digit)) for name, digit in zip(SOKOBAN, f"{number:03}"[::-1], strict=True)]
    assert joined_digits([SOKOBAN], digits) == [(number, tuple(digits))]


@pytest.mark.parametrize(
    "facts", ["(ones 1)", "(ones 1) (tens 2) (hundreds x)", "(ones 1) (ones 2) (tens 0) (hundreds 0)"]
)
def test_what_is_not_said_once_is_no_number(facts: str) -> None:
    assert joined_digits([SOKOBAN], parse_terms(facts)) == []


def test_counts_can_be_made_of_many_digits() -> None:
    rules = "(role r)" + "".join(
        f"(<= (next (d{i} ?n)) (true (d{i - 1} 9)) (true (d{i} ?m)) (s ?m ?n))" for i in range(1, 40)
    )
    chains = digit_chains(parse_rules(rules))
    assert all(len(chain) <= 12 for chain in chains)

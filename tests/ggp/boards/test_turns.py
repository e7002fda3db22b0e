"""Whose turn it is, by the rules alone."""

from __future__ import annotations

import pytest

from gdl.scramble import scramble
from ggp.boards.turns import TurnFinder
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.ggp.wording.test_moves import walk


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

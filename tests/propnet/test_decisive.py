"""In the network for playouts a role that can win at once must; nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.rules import Rules
from ggp.game import Game
from propnet.decisive import decisive
from propnet.interpret import PropnetMachine
from propnet.native import native_machine
from propnet.turns import forced_moves
from tests.propnet.circuits import tic_tac_toe


def in_play(machine, rows):
    """Some states that are not terminal, as records, met in random play."""
    rng = np.random.default_rng(0)
    state = machine.initial_state()
    found = []
    while len(found) < rows:
        if machine.is_terminal(state):
            state = machine.initial_state()
        found.append(state)
        joint = [rng.choice(machine.legal_moves(state, r)) for r in range(len(machine.roles))]
        state = machine.next_state(state, [int(move) for move in joint])
    return found


def wins_at_once(machine, state, role, move):
    joint = [machine.legal_moves(state, r)[0] for r in range(len(machine.roles))]
    joint[role] = move
    after = machine.next_state(state, joint)
    # By the rules of pentago a line of black's is worth 100 and 0: that is none, but 100 holds.
    return machine.is_terminal(after) and machine.goal(after, role) in (100, None)


def assert_decisive(plain, played, rows):
    some = 0
    for state in in_play(plain, rows):
        copy = played.states(played.records([state]))[0]
        assert not played.is_terminal(copy)
        for role in range(len(plain.roles)):
            legal = plain.legal_moves(state, role)
            winning = [move for move in legal if wins_at_once(plain, state, role, move)]
            # A role that has no choice does not win by its own doing.
            if len(legal) > 1:
                assert played.legal_moves(copy, role) == (winning or legal)
                some += bool(winning)
            else:
                assert played.legal_moves(copy, role) == legal
    assert some


def playing(machine, *, most_inputs=100_000, **limits):
    forced = forced_moves(machine)
    assert forced is not None
    network = decisive(machine.network, forced, most_inputs=most_inputs, **limits)
    return network and PropnetMachine(machine.rules, network)


def test_in_tic_tac_toe_a_row_of_two_is_completed():
    plain = PropnetMachine(Rules(()), tic_tac_toe())
    assert forced_moves(plain) == [9, 9]
    played = playing(plain)
    assert_decisive(plain, played, 100)
    start = plain.records([plain.initial_state()])
    before, after = (machine.playouts_from(start, 1, each=4000) for machine in (plain, played))
    assert after.cut == 0
    assert after.lengths.mean() < before.lengths.mean() - 1


@pytest.mark.parametrize("name", ["connectFour", "knightThrough", "pentago"])
def test_wins_at_once_are_those_that_trying_all_moves_finds(corpus, name):
    game = Game.load(str(corpus / "games" / f"{name}.kif"))
    plain = game.machine("propnet")
    played = playing(plain)
    assert_decisive(plain, played, 50)
    fast = native_machine(game.rules, played.network)
    assert fast.compiled == 1.0
    a, b = played.playouts(600, seed=3), fast.playouts(600, seed=3)
    assert (a.goals == b.goals).all()
    assert (a.lengths == b.lengths).all()


def test_breakthrough_is_won_by_the_first_pawn_that_can_be_home():
    plain = Game.load("breakthrough").machine("propnet")
    assert_decisive(plain, playing(plain), 80)


def test_limits_are_kept():
    plain = Game.load("breakthrough").machine("propnet")
    assert playing(plain, effort=1000) is None
    assert playing(plain, most_inputs=1000) is None


def test_games_whose_roles_move_at_once_or_that_need_recursion_are_left_alone():
    assert forced_moves(Game.load("biddingtictactoe").machine("propnet")) is None
    assert playing(Game.load("hex").machine("propnet")) is None

"""In the network for playouts a role that can win at once must; nothing else is changed."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.rules import Rules
from ggp.game import Game
from propnet.analysis.random_play import forced_moves
from propnet.guides import decisive
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine
from tests.propnet.circuits import tic_tac_toe


def in_play(machine, rows):
    """Every third of the states that are not terminal met in random play."""
    rng = np.random.default_rng(0)
    state = machine.initial_state()
    states = []
    while len(states) < 3 * rows:
        if machine.is_terminal(state):
            state = machine.initial_state()
        states.append(state)
        joint = [rng.choice(machine.legal_moves(state, r)) for r in range(len(machine.roles))]
        state = machine.next_state(state, [int(move) for move in joint])
    return states[::3]


def ended(machine, state, role, move):
    """The state after the move, and the role that has won it at once; the others make what they must."""
    joint = [machine.legal_moves(state, r)[0] for r in range(len(machine.roles))]
    joint[role] = move
    after = machine.next_state(state, joint)
    if not machine.is_terminal(after):
        return after, None
    # By the rules of pentago a line of black's is worth 100 and 0: that is none, but 100 holds.
    won = [r for r in range(len(machine.roles)) if machine.goal(after, r) in (100, None)]
    return after, won[0] if won else -1


def wins_at_once(machine, state, role, move):
    return ended(machine, state, role, move)[1] == role


def loses_at_once(machine, state, role, move, forced):
    if move == forced[role]:
        return False
    after, winner = ended(machine, state, role, move)
    if winner is not None:
        return winner not in (role, -1)
    return any(
        wins_at_once(machine, after, rival, reply)
        for rival in range(len(machine.roles))
        if rival != role
        for reply in machine.legal_moves(after, rival)
        if reply != forced[rival]
    )


def assert_decisive(plain, played, rows):
    wins = mistakes = 0
    forced = forced_moves(plain)
    for state in in_play(plain, rows):
        copy = played.states(played.records([state]))[0]
        assert not played.is_terminal(copy)
        for role in range(len(plain.roles)):
            legal = plain.legal_moves(state, role)
            better = legal
            # A role that has no choice does not win by its own doing.
            if len(legal) > 1:
                winning = [move for move in legal if wins_at_once(plain, state, role, move)]
                wins += bool(winning)
                if not winning:
                    safe_moves = [m for m in legal if not loses_at_once(plain, state, role, m, forced)]
                    mistakes += 0 < len(safe_moves) < len(legal)
                    better = safe_moves or legal
                else:
                    better = winning
            assert played.legal_moves(copy, role) == better
    assert wins or mistakes
    return wins, mistakes


def playing(machine, *, most_inputs=100_000, **limits):
    forced = forced_moves(machine)
    assert forced is not None
    network = decisive(machine.network, forced, most_inputs=most_inputs, **limits)
    return network and PropnetMachine(machine.rules, network)


def test_in_tic_tac_toe_a_row_of_two_is_completed():
    plain = PropnetMachine(Rules(()), tic_tac_toe())
    assert forced_moves(plain) == [9, 9]
    played = playing(plain)
    assert all(assert_decisive(plain, played, 100))
    start = plain.records([plain.initial_state()])
    assert played.playouts_from(start, 1, each=4000).cut == 0


def test_in_tic_tac_toe_a_row_of_two_is_blocked():
    plain = PropnetMachine(Rules(()), tic_tac_toe())
    played = playing(plain)
    assert_decisive(plain, played, 100)
    ends = played.playouts_from(plain.records([plain.initial_state()]), 1, each=4000)
    # Few games are lost but by two rows at once.
    assert (ends.goals[:, 0] == 50).mean() > (plain.playouts(4000, seed=1).goals[:, 0] == 50).mean() + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connectFour", "knightThrough", "pentago"])
def test_wins_and_losses_at_once_are_those_that_trying_all_moves_finds(corpus, name):
    game = Game.load(str(corpus / "games" / f"{name}.kif"))
    plain = game.machine("propnet")
    played = playing(plain)
    assert_decisive(plain, played, 50)
    fast = native_machine(game.rules, played.network)
    assert fast.compiled == 1.0
    a, b = played.playouts(600, seed=3), fast.playouts(600, seed=3)
    assert (a.goals == b.goals).all()
    assert (a.lengths == b.lengths).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["connectFourSuicide", "tictactoe_3player", "chineseCheckers2"])
def test_other_kinds_of_ends_too(corpus, name):
    """Where a role may lose by its own move, where three roles play, and in a race."""
    plain = Game.load(str(corpus / "games" / f"{name}.kif")).machine("propnet")
    played = playing(plain)
    assert played is not None
    assert_decisive(plain, played, 60)


@pytest.mark.slow
def test_breakthrough_is_won_by_the_first_pawn_that_can_be_home():
    plain = Game.load("breakthrough").machine("propnet")
    assert_decisive(plain, playing(plain), 80)


def test_limits_are_kept():
    plain = Game.load("breakthrough").machine("propnet")
    assert playing(plain, effort=1000) is None
    assert playing(plain, most_inputs=1000) is None
    assert playing(plain, most_inputs=7000) is None


def test_games_whose_roles_move_at_once_or_that_need_recursion_are_left_alone():
    assert forced_moves(Game.load("biddingtictactoe").machine("propnet")) is None
    assert playing(Game.load("hex").machine("propnet")) is None

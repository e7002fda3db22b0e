"""In networks for playouts roles win at once if they can, and leave out sure bad ends; the rest stays."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.machine import Machine, State
from gdl.rules import Rules
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.kaskade.guided_machine import GuidedMachine, guided
from propnet.analysis.random_play import forced_moves
from propnet.guides import decisive, sure_ends
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine
from tests.examples import examples
from tests.machines import network as network_machine
from tests.players.random_games import random_game
from tests.propnet.circuits import tic_tac_toe


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
    for state in states_in_play(plain, 3 * rows, seed=0)[::3]:
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


def test_limits_of_decisive_networks_are_kept():
    plain = Game.load("breakthrough").machine("propnet")
    assert playing(plain, effort=1000) is None
    assert playing(plain, most_inputs=1000) is None
    assert playing(plain, most_inputs=7000) is None


def test_games_whose_roles_move_at_once_or_that_need_recursion_are_left_alone():
    assert forced_moves(Game.load("biddingtictactoe").machine("propnet")) is None
    assert playing(Game.load("hex").machine("propnet")) is None


# --- Where roles move at the same time, moves that surely end a match badly are left out, and none else
def ends(machine: Machine, state: State, role: int, move: int) -> set[int | None]:
    """The goals of the role at the ends that its move may bring, whatever the others do; None among them
    where the match may go on."""
    options = [machine.legal_moves(state, r) for r in range(len(machine.roles))]
    options[role] = [move]
    goals: set[int | None] = set()
    for joint in product(*options):
        after = machine.next_state(state, joint)
        goals.add(machine.result(after, role) if machine.is_terminal(after) else None)
    return goals


def states_in_play(machine: Machine, count: int, seed: int) -> list[State]:
    """States that are not terminal, from random play."""
    rng = random.Random(seed)
    states: list[State] = []
    state = machine.initial_state()
    while len(states) < count:
        if machine.is_terminal(state):
            state = machine.initial_state()
            if machine.is_terminal(state):
                break
        states.append(state)
        options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
    return states


def check(plain: PropnetMachine, played: PropnetMachine, count: int, seed: int) -> tuple[int, int]:
    """Check that moves are left out for good reasons. Returns how many were, and how many should have been as
    far as trying all moves shows."""
    best = dict.fromkeys(range(len(plain.roles)), 0)
    for role, worth, _ in plain.network.goals.tolist():
        best[role] = max(best[role], worth)
    left = wanted = 0
    for state in states_in_play(plain, count, seed):
        copy = played.states(played.records([state]))[0]
        for role in range(len(plain.roles)):
            legal, guided_moves = plain.legal_moves(state, role), played.legal_moves(copy, role)
            assert guided_moves
            assert set(guided_moves) <= set(legal)
            results = {move: ends(plain, state, role, move) for move in legal}
            losses = [m for m in legal if None not in results[m] and best[role] not in results[m]]
            assert set(legal) - set(guided_moves) <= set(losses)
            left += len(legal) - len(guided_moves)
            better = [move for move in legal if move not in losses] or legal
            wanted += len(legal) - len(better)
    return left, wanted


def test_what_is_left_out_is_what_trying_all_moves_finds() -> None:
    game = Game.load("tron")
    plain = game.machine("propnet")
    assert isinstance(plain, PropnetMachine)
    network = sure_ends(plain.network, most_inputs=100_000)
    assert network is not None
    left, wanted = check(plain, PropnetMachine(game.rules, network), 60, 1)
    assert left == wanted > 0


@examples(60)
@given(seed=st.integers(0, 10**6), roles=st.integers(2, 3), simultaneous=st.booleans())
def test_moves_are_left_out_for_good_reasons_in_any_game(seed: int, roles: int, simultaneous: bool) -> None:
    plain = network_machine(random_game(seed, roles, simultaneous))
    network = sure_ends(plain.network, most_inputs=100_000)
    if network is not None:
        left, wanted = check(plain, PropnetMachine(plain.rules, network), 12, seed)
        assert left <= wanted


def test_limits_of_sure_ends_are_kept() -> None:
    network = Game.load("tron").machine("propnet").network
    assert sure_ends(network, most_inputs=1000) is None
    assert sure_ends(network, most_inputs=100_000, effort=1000) is None


def test_playouts_avoid_what_surely_ends_the_match_and_the_tree_leaves_nothing_out() -> None:
    machine = guided(Game.load("tron").machine("native"))
    assert isinstance(machine, GuidedMachine)
    assert not machine.exact
    batch = batch_machine_of(machine, decisive=True)
    assert batch.guided
    assert not batch.exact
    records = machine.records([machine.initial_state()])
    careful = batch.playouts(records, 1, 200, float("inf"), 512).lengths.mean()
    careless = batch_machine_of(machine).playouts(records, 1, 200, float("inf"), 512).lengths.mean()
    assert careful > 2 * careless

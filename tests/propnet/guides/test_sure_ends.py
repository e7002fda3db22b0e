"""Where roles move at the same time, moves that surely end a match badly are left out, and none else."""

from __future__ import annotations

import random
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from gdl.grounding.pipeline import ground
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.kaskade.guided_machine import GuidedMachine, guided
from propnet.build import build
from propnet.guides import sure_ends
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.players.random_games import random_game


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
    rules = parse_rules(random_game(seed, roles, simultaneous), "a random game")
    plain = PropnetMachine(rules, build(ground(rules)))
    network = sure_ends(plain.network, most_inputs=100_000)
    if network is not None:
        left, wanted = check(plain, PropnetMachine(rules, network), 12, seed)
        assert left <= wanted


def test_limits_are_kept() -> None:
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

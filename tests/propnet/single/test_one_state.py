"""One state at a time says of any state, and after any move, what 512 lanes say: bit for bit."""

from __future__ import annotations

import pickle
import random
from collections.abc import Hashable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import MoveError
from gdl.machine import State
from gdl.syntax.parser import parse_rules
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.single import one_state
from propnet.single.one_state import EXTRAS, HEAVY, OneState, wire_up
from tests.examples import examples
from tests.propnet.circuits import random_network
from tests.propnet.test_machine import machines

ROLE = parse_rules("(role a) (init p) (legal a x) (terminal) (goal a 0)")


def check(machine: PropnetMachine, one: OneState, state: State) -> None:
    """What one state says against what lanes say."""
    seen = machine.evaluate(machine.records([state]), single=True)
    best = machine.evaluate(machine.records([state])).goals[0].tolist()
    bits, ends = unpack(seen.legal, machine.network.move_count)[0], machine.role_moves.tolist()
    legal = [np.flatnonzero(bits[low:high]).tolist() for low, high in pairwise(ends)]
    assert one.key == state.key
    assert bool(one.terminal) == bool(seen.terminal[0])
    assert [list(moves) for moves in one.legal] == legal
    assert [one.goal(r) for r in range(len(legal))] == [None if v < 0 else v for v in seen.goals[0].tolist()]
    assert [one.result(r) for r in range(len(legal))] == [None if v < 0 else v for v in best]


def wander(machine: PropnetMachine, one: OneState, rng: random.Random, steps: int) -> None:
    """From state to state, by any moves, legal or not, and now and then to a state far away."""
    network = machine.network
    (state,) = machine.states(pack(np.asarray(network.initial, np.bool_)[None, :]))
    one.go(state.key)
    check(machine, one, state)
    for _ in range(steps):
        if rng.random() < 0.3:
            state = State(machine, _random_record(rng, network))
            if rng.random() < 0.5:  # else the next move is made from a state that it has to go to first
                one.go(state.key)
                check(machine, one, state)
        joint = [rng.randrange(len(moves)) for moves in network.moves]
        after = machine.successors(machine.records([state]), np.array([joint], np.int32))
        key = one.play(state.key, joint)
        (state,) = machine.states(after)
        assert key == state.key
        check(machine, one, state)


@examples(150)
@given(st.integers(0, 2**32))
def test_any_network_with_any_loops_gives_in_any_state_what_lanes_give(seed: int) -> None:
    rng = random.Random(seed)
    moves = [rng.randint(1, 6) for _ in range(rng.randint(1, 3))]
    network = random_network(
        np.random.default_rng(seed), rng.randint(1, 70), moves, rng.randint(5, 120), loops=rng.randint(0, 3)
    )
    wander(PropnetMachine(ROLE, network), OneState(network), rng, 12)


@examples(100)
@given(st.integers(0, 2**32), st.integers(1, one_state.MOST_HUBS))
def test_whichever_bases_choose_the_copy_of_the_wires_nothing_else_is_said(seed: int, hubs: int) -> None:
    rng = random.Random(seed)
    bases, moves = rng.randint(hubs, 70), [rng.randint(1, 6) for _ in range(rng.randint(1, 3))]
    network = random_network(np.random.default_rng(seed), bases, moves, 120, loops=rng.randint(0, 3))
    chosen = rng.sample(range(bases), hubs)
    walked = [bytes(_random_record(rng, network)) for _ in range(8)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(one_state, "hubs_of", lambda records, readers: chosen)
        patched.setattr(one_state, "WORTH_IT", float("inf"))
        patched.setattr(OneState, "_walk", lambda one, initial: [(key, [0] * len(moves)) for key in walked])
        one = OneState(network)
    machine = PropnetMachine(ROLE, network)
    wander(machine, one, rng, 12)
    state = machine.initial_state()
    one.go(state.key)
    assert one.hash() == hash(state)


def _random_record(rng: random.Random, network: Network) -> bytes:
    bits = np.array([[rng.random() < 0.5 for _ in network.bases]], np.bool_)
    return pack(bits).tobytes()


@pytest.mark.slow
def test_whose_turn_it_is_chooses_the_copy_and_what_seldom_changes_or_is_hardly_read_does_not() -> None:
    network = machines("chess")[0].network
    readers = np.bincount(network.gate_inputs >> 1, minlength=network.nodes)[1 : 1 + len(network.bases)]
    machine = PropnetMachine(ROLE, network)
    rng, keys, state = random.Random(4), list[Hashable](), machine.initial_state()
    for _ in range(40):
        keys.append(state.key)
        state = machine.next_state(state, [rng.choice(moves) for moves in machine.options(state)])
    records = unpack(machine.records([State(machine, key) for key in keys]), len(network.bases))
    hubs = {str(network.bases[base]) for base in one_state.hubs_of(records, readers)}
    assert hubs == {"(control white)", "(control black)"}
    assert one_state.hubs_of(records[:1], readers) == []
    assert one_state.hubs_of(np.zeros((9, 3), np.bool_), np.ones(3, np.int64)) == []


@pytest.mark.parametrize("name", ["hex", "chess"])
def test_games_with_loops_and_with_runs_give_what_lanes_give(name: str) -> None:
    machine = machines(name)[0]
    one = OneState(machine.network)
    wander(machine, one, random.Random(name), 6)
    rng = random.Random(1)
    state = machine.initial_state()
    for _ in range(60):
        check(machine, one if one.key == state.key else _gone(one, state), state)
        if one.terminal:
            state = machine.initial_state()
            continue
        joint = [rng.choice(moves) for moves in one.legal]
        after = machine.successors(machine.records([state]), np.array([joint], np.int32))
        assert one.play(state.key, joint) == machine.states(after)[0].key
        (state,) = machine.states(after)


def _gone(one: OneState, state: State) -> OneState:
    one.go(state.key)
    return one


@pytest.mark.slow
def test_what_very_many_gates_read_is_counted_in_runs() -> None:
    network = machines("chess")[0].network
    wiring = wire_up(network)
    readers = np.bincount(network.gate_inputs >> 1, minlength=network.nodes)
    heavy = np.flatnonzero(readers[: network.first_gate] >= HEAVY)
    in_runs = wiring.rows[heavy + 1, EXTRAS] > wiring.rows[heavy, EXTRAS]
    assert in_runs.sum() >= 2  # white's turn, black's turn


def _network() -> Network:
    return machines("tictactoe")[0].network


@pytest.mark.parametrize("joint", [[10, 0], [0, 99], [-1, 0], [0], [], ["x", 0], [2**70, 0]])
def test_ids_that_no_move_has_are_refused_and_nothing_has_changed(joint: list[int]) -> None:
    machine = PropnetMachine(machines("tictactoe")[0].rules, _network())
    state = machine.initial_state()
    before = machine.options(state)
    with pytest.raises(MoveError, match="out of range"):
        machine.next_state(state, joint)
    assert machine.options(state) == before
    assert machine.next_state(state, [move[0] for move in before]).propositions


def test_hashes_are_those_of_the_prover_and_are_made_anew_where_they_are_sent() -> None:
    network, prover = machines("tictactoe")
    ours, theirs = network.initial_state(), prover.initial_state()
    for move in ("(mark b 2)", "(mark a 1)"):
        ours, theirs = ours.play(move), theirs.play(move)
        assert ours == theirs and hash(ours) == hash(theirs)
    known = {ours: 1}
    assert known[theirs] == 1
    sent = pickle.loads(pickle.dumps(ours))
    assert sent == ours and hash(sent) == hash(ours)
    assert sent.legal == ours.legal


def test_questions_about_states_far_apart_are_answered_in_any_order() -> None:
    machine, prover = machines("connectfour")
    rng = random.Random(5)
    pairs = []
    state = machine.initial_state()
    while not state.terminal:
        pairs.append((state, prover.state_of(state.propositions)))
        state = state.play(*[rng.choice(moves) for moves in state.legal.values()])
    for ours, theirs in rng.sample(pairs * 3, 3 * len(pairs)):
        assert {role: sorted(moves) for role, moves in ours.legal.items()} == {
            role: sorted(moves) for role, moves in theirs.legal.items()
        }
        assert ours.goals == theirs.goals

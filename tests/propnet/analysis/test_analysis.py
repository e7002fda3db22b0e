"""What is proven of a network holds: ternary simulation, latches, clocks, cofactors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from propnet.analysis.cones import clocks
from propnet.analysis.ternary import Ternary, latches, phases, unpack_cases
from propnet.network import Network
from propnet.passes.circuit import TRUE
from propnet.substitute import cofactors
from tests.examples import examples
from tests.propnet.circuits import naive, random_network, tic_tac_toe

seeds = st.integers(0, 2**32 - 1)


def some_network(rng: Generator, loops: int = 0) -> Network:
    return random_network(rng, int(rng.integers(1, 9)), [3, 2], int(rng.integers(2, 30)), loops=loops)


def legal_moves(network: Network, values: list[bool]) -> list[list[int]]:
    legal, first = [], 0
    for moves in network.moves:
        mine = network.legal_literals[first : first + len(moves)]
        legal.append([i for i, x in enumerate(mine) if values[x]])
        first += len(moves)
    return legal


def successor(network: Network, state: NDArray[np.bool_], rng: Generator) -> NDArray[np.bool_] | None:
    """A state after random legal moves; None where a role has none, or the match is over."""
    values = naive(network, state)
    options = legal_moves(network, values)
    if values[network.terminal_literal] or not all(options):
        return None
    after = naive(network, state, [int(rng.choice(moves)) for moves in options])
    return np.array([after[x] for x in network.next_literals])


@examples(30)
@given(seeds, st.integers(0, 1))
def test_ternary_simulation_allows_for_every_state_that_is_allowed_for(seed: int, loops: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng, loops)
    ternary = Ternary(network)
    bases = len(network.bases)
    states = rng.integers(0, 2, (6, bases)).astype(np.bool_)
    rows = ternary.known(states)
    open_ = rng.integers(0, 2, bases).astype(np.bool_)
    rows[np.repeat(open_, 2)] = ~np.uint64(0)
    step = ternary.step(rows)
    may, following = unpack_cases(step.may, 6), unpack_cases(step.following, 6)
    for case in range(6):
        inside = states[case] ^ (open_ & rng.integers(0, 2, bases).astype(np.bool_))
        values = naive(network, inside)
        reads = network.first_gate + network.base_gates
        sure = [x for x in range(2 * reads) if x >> 1 <= bases or x >> 1 >= network.first_gate]
        assert all(may[case, x] for x in sure if values[x])
        options = legal_moves(network, values)
        if all(options):
            joint = [int(rng.choice(moves)) for moves in options]
            after = naive(network, inside, joint)
            assert all(following[case, 2 * b + (not after[x])] for b, x in enumerate(network.next_literals))


@examples(40)
@given(seeds)
def test_what_is_latched_never_changes_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng)
    latched = latches(Ternary(network))
    for _ in range(3):
        state = np.asarray(network.initial, np.bool_)
        for _ in range(8):
            after = successor(network, state, rng)
            if after is None:
                break
            assert not (latched.true & state & ~after).any()
            assert not (latched.false & ~state & after).any()
            assert not (latched.constant & (state != after)).any()
            state = after


def test_marks_are_latches() -> None:
    latched = latches(Ternary(tic_tac_toe()))
    assert latched.true.tolist() == [True] * 18 + [False]
    assert not latched.false.any()


def test_the_turns_of_tic_tac_toe_come_again() -> None:
    network = tic_tac_toe()
    ternary = Ternary(network)
    clock = clocks(network)
    assert np.flatnonzero(clock).tolist() == [18]
    order = phases(ternary, clock)
    assert order is not None
    assert (len(order.states), order.again, order.end) == (2, 0, None)
    assert phases(ternary, clock, effort=0) is None


@examples(30)
@given(seeds)
def test_cofactors_are_the_next_functions_with_the_move_put_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = some_network(rng)
    for role, moves in enumerate(network.moves):
        effects, _ = cofactors(network, role, 10_000)
        state = rng.integers(0, 2, len(network.bases)).astype(np.bool_)
        reply = int(rng.integers(0, len(network.moves[1 - role])))
        nexts = []
        for move in range(len(moves)):
            joint = [move, reply] if role == 0 else [reply, move]
            after = naive(network, state, joint)
            nexts.append([after[x] for x in network.next_literals])
        # Moves with the same cofactor do the same.
        for base, usual in enumerate(effects.usual):
            kinds: dict[int, set[bool]] = {}
            for move, changed in enumerate(effects.changed):
                kinds.setdefault(changed.get(base, usual), set()).add(nexts[move][base])
            assert all(len(values) == 1 for values in kinds.values())
            assert kinds.get(TRUE, {True}) == {True}

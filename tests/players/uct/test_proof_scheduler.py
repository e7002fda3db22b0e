"""The prover beside the tree: what it says is true, decides the move, and is kept from turn to turn."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.positions import load_game, open_states
from bench.positions.solver import Solver, role_to_move
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.proof.search import Proof
from players.uct.root_statistics import RootStatistics, merge, rank
from players.uct.search import Search
from players.uct.tuning import Tuning
from players.uct.workers.channel import Slot, new_memory
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.players.random_games import random_game
from tests.players.uct.searching import run
from tests.propnet.test_machines_agree import BOTH

LONG = 1e6
"""Seconds that no test needs, even if code has to be compiled in the first batch."""
LITTLE = 1 << 24


def forced(machine: Machine, state: State, role: int) -> int:
    """What a role gets at least if all others play together against it, by looking at everything."""
    if machine.is_terminal(state):
        return machine.result(state, role) or 0
    options = [machine.legal_moves(state, r) for r in range(len(machine.roles))]
    values = [forced(machine, machine.next_state(state, joint), role) for joint in product(*options)]
    return max(values) if len(options[role]) > 1 else min(values)


def proven(machine: PropnetMachine, state: State, role: int, lines: int = 4) -> Proof:
    proof = Proof(machine, role, LITTLE, lines)
    proof.set_root(machine.records([state])[0])
    proof.step(time.monotonic() + LONG)
    return proof


def search_until_proven(search: Search, state: State) -> RootStatistics:
    search.set_root(state)
    run(search)
    return search.statistics()


def search_for(machine: Machine, role: int, prove: bool = True) -> Search:
    search = Search(role, 1, Tuning(memory=LITTLE, prove=prove))
    search.set_machine(machine)
    return search


def move_of(machine: Machine, state: State, found: RootStatistics, role: int) -> int:
    by_text = sorted(
        machine.legal_moves(state, role), key=lambda m: machine.rules.spell(machine.move(role, m))
    )
    return by_text[rank(found, role).best]


@examples(40)
@given(seed=st.integers(0, 10**6), role=st.integers(0, 1))
def test_two_roles_get_what_minimax_says_whichever_of_them_asks(seed: int, role: int) -> None:
    machine = network(random_game(seed, 2, simultaneous=False, steps=6))
    state = machine.initial_state()
    proof = proven(machine, state, role)
    assert proof.solved
    assert proof.bounds.low == forced(machine, state, role)


@examples(40)
@given(seed=st.integers(0, 10**6), role=st.integers(0, 2))
def test_of_three_roles_one_is_proven_to_win_only_where_it_can_against_both_others(
    seed: int, role: int
) -> None:
    machine = network(random_game(seed, 3, simultaneous=False, steps=5))
    state = machine.initial_state()
    proof = proven(machine, state, role)
    assert not proof.constant_sum
    value = forced(machine, state, role)
    assert proof.solved == (value == proof.most and value > 0)
    if not proof.solved and proof.fits:
        assert proof.finished


@examples(20)
@given(seed=st.integers(0, 10**6), total=st.sampled_from([0, 40, 100]))
def test_sums_other_than_100_are_proven_to_the_point(seed: int, total: int) -> None:
    lines = []
    for line in random_game(seed, 2, simultaneous=False, steps=5).splitlines():
        if line.startswith("(<= (goal r0"):
            first = min(total, int(line.split()[3].rstrip(")")))
            place = line[line.index("(true") :]
            line = f"(<= (goal r0 {first}) {place}\n(<= (goal r1 {total - first}) {place}"
        elif line.startswith("(<= (goal r1"):
            continue
        lines.append(line)
    machine = network("\n".join(lines))
    state = machine.initial_state()
    for role in range(2):
        proof = proven(machine, state, role)
        assert proof.bounds.exact
        assert proof.bounds.low == forced(machine, state, role)


def test_a_win_that_is_told_as_100_and_0_is_proven_by_the_tree_too() -> None:
    machine = make_machine(parse_rules(BOTH), "propnet")
    found = search_until_proven(search_for(machine, 0, prove=False), machine.initial_state())
    assert found.value == 100
    assert proven(network(BOTH), network(BOTH).initial_state(), 0).bounds.low == 100


@pytest.mark.parametrize("role", [0, 1])
def test_search_proves_connect_four_endgames_and_plays_a_move_that_keeps_the_value(role: int) -> None:
    machine = network("connectfour")
    search = search_for(machine, role)
    solver = Solver(machine, 10**7)
    for state in open_states(machine, 30 + role, 3, seed=4):
        to_move = role_to_move(machine, state)
        value = solver.solve(state, to_move, 100, count=False).value
        found = search_until_proven(search, state)
        assert found.value == (value if to_move == role else 100 - value)
        if to_move == role:
            joint = [machine.legal_moves(state, r)[0] for r in range(2)]
            joint[role] = move_of(machine, state, found, role)
            after = machine.next_state(state, joint)
            if machine.is_terminal(after):
                assert machine.result(after, role) == value
            else:
                assert 100 - solver.solve(after, 1 - role, 100, count=False).value == value


def test_a_proven_win_is_carried_through_without_another_search() -> None:
    machine = network("connectfour")
    proof = Proof(machine, 0, LITTLE)
    carried = 0
    for state in open_states(machine, 28, 30, seed=6):
        proof.set_root(machine.records([state])[0])
        proof.step(time.monotonic() + LONG)
        if proof.bounds.low < 100 or role_to_move(machine, state):
            continue
        opened = proof.opened
        while not machine.is_terminal(state):
            proof.set_root(machine.records([state])[0])
            assert proof.solved and proof.bounds.low == 100
            answers = proof.answers()
            if role_to_move(machine, state):  # the answer that holds out longest
                place = int(np.argmax(answers.length))
            else:
                good = np.flatnonzero(answers.low == 100)
                place = int(good[np.argmin(answers.length[good])])
            state = machine.next_state(state, answers.moves[place].tolist())
        assert machine.result(state, 0) == 100
        carried += proof.opened == opened
    assert carried > 3


@pytest.mark.parametrize("game", ["rockpaperscissors", "prisonersdilemma", "eightpuzzle"])
def test_games_of_other_kinds_are_searched_as_without_it(game: str) -> None:
    machine = make_machine(load_game(game).rules, "propnet")
    search = search_for(machine, 0)
    search.set_root(machine.initial_state())
    for _ in range(5):
        search.step(time.monotonic() + LONG)
    assert search.playouts
    assert search._proofs is None or not search._proofs.active


def test_one_process_that_has_proven_a_move_decides_for_all() -> None:
    """As the player merges them: through the shared memory of each."""
    counts = (1, 3)
    parts = []
    for proven_by_this in (False, True):
        found = RootStatistics.empty(counts)
        found.visits[:] = [100, 90, 5, 5]
        found.totals[:] = [50.0, 80.0, 1.0, 1.0]
        if proven_by_this:
            found.proven[3] = 100
        value = 100 if proven_by_this else -1
        slot = Slot(new_memory())
        slot.write(1, RootStatistics(counts, found.visits, found.totals, found.proven, 10, 1, 1, value))
        told = slot.read(1)
        assert told is not None
        parts.append(told)
    assert rank(merge(counts, parts[:1]), 1).best == 0
    merged = merge(counts, parts)
    assert merged.value == 100
    assert rank(merged, 1).best == 2

"""Percepts in the network: as the prover has them, on every machine, and nothing new without ``sees``."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.information import hides
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.terms import SEES
from ggp.game import Game
from ggp.rule_files import installed_games
from propnet.analysis.cones import without_dead_gates
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine
from propnet.network import Network
from propnet.storage.network_bytes import from_bytes, to_bytes

SMALL = ("blindtictactoe", "kuhn", "montyhall", "numberguessing")


@cache
def network_of(name: str) -> Network:
    return build(ground(Game.load(name).rules))


def without_sees(rules: Rules) -> Rules:
    """The same game in which everybody sees everything."""
    return replace(rules, rules=tuple(rule for rule in rules if rule.head.name != SEES))


def follow(prover: ProverMachine, others: list[Machine], seed: int) -> int:
    """Play at random, and compare what is perceived in each turn; how many percepts there were."""
    rng = random.Random(seed)
    state, count = prover.initial_state(), 0
    while not state.terminal:
        options = [prover.legal_moves(state, role) for role in range(len(prover.roles))]
        joint = [rng.choice(moves) for moves in options]
        seen = prover.percepts(state, joint)
        for machine in others:
            copy = machine.state_of(state.propositions)
            ids = [machine.move_id(role, prover.move(role, move)) for role, move in enumerate(joint)]
            assert machine.percepts(copy, ids) == seen
        for role, own in enumerate(seen):
            assert prover.perceives(state, joint, role, own)
            others_saw = [own | {prover.roles[role]}, *(own - {one} for one in own)]
            assert not any(prover.perceives(state, joint, role, other) for other in others_saw)
        state = prover.next_state(state, joint)
        count += sum(map(len, seen))
    return count


@pytest.mark.parametrize("name", SMALL)
def test_prover_network_and_native_code_agree_on_percepts(name: str) -> None:
    rules, network = Game.load(name).rules, network_of(name)
    others: list[Machine] = [PropnetMachine(rules, network), native_machine(rules, network)]
    prover = ProverMachine(rules)
    assert sum(follow(prover, others, seed) for seed in range(12)) > 0


@pytest.mark.parametrize("name", SMALL)
def test_percepts_change_nothing_of_what_happens(name: str) -> None:
    rules = Game.load(name).rules
    open_rules = without_sees(rules)
    assert hides(rules) and not hides(open_rules)
    seeing, open_network = network_of(name), build(ground(open_rules))
    assert (seeing.bases, seeing.moves) == (open_network.bases, open_network.moves)
    for machine in (PropnetMachine, native_machine):
        first, second = machine(rules, seeing), machine(open_rules, open_network)
        # As many as there are lanes: when the next ones begin depends on how many gates there are.
        same = [m.playouts(512, seed=5) for m in (first, second)]
        assert np.array_equal(same[0].goals, same[1].goals)
        assert np.array_equal(same[0].lengths, same[1].lengths)


def test_networks_of_games_without_sees_have_no_trace_of_percepts() -> None:
    for path in installed_games():
        rules = Game.load(path.stem).rules
        if hides(rules) or len(rules) > 60:
            continue
        grounded = ground(rules)
        network = build(grounded)
        assert grounded.percepts == network.percepts == ()
        assert len(grounded.percept_atoms) == len(network.percept_literals) == 0


def test_lanes_perceive_what_single_states_do() -> None:
    rules, network = Game.load("blindtictactoe").rules, network_of("blindtictactoe")
    machine = PropnetMachine(rules, network)
    rng = random.Random(3)
    states, joints = [], []
    while len(states) < 700:
        state = machine.initial_state()
        while not state.terminal:
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            joint = tuple(rng.choice(moves) for moves in options)
            states.append(state)
            joints.append(joint)
            state = machine.next_state(state, joint)
    records, moves = machine.records(states), np.array(joints, np.int32)
    after, seen = machine.perceive(records, moves)
    assert np.array_equal(after, machine.successors(records, moves))
    bounds = machine.role_percepts.tolist()
    for row, state, joint in zip(seen.tolist(), states, joints, strict=True):
        bits = sum(word << 64 * place for place, word in enumerate(row))
        told = tuple(
            frozenset(percept for place, percept in enumerate(own, first) if bits >> place & 1)
            for own, first in zip(network.percepts, bounds, strict=False)
        )
        assert told == machine.percepts(state, joint)


def test_percepts_survive_storage_and_the_removal_of_dead_gates() -> None:
    network = network_of("kuhn")
    assert from_bytes(to_bytes(network)).same_as(network)
    assert without_dead_gates(network).same_as(network)
    assert not replace(network, percept_literals=network.percept_literals ^ 1).same_as(network)
    with pytest.raises(GdlError, match="percepts"):
        from_bytes(to_bytes(replace(network, percept_literals=network.percept_literals[1:])))


def test_nothing_reads_percepts() -> None:
    """They were base propositions while the network was made: no gate may have kept one as an input."""
    for name in SMALL:
        network = network_of(name)
        nodes = np.concatenate([network.gate_inputs, network.next_literals, network.percept_literals]) >> 1
        assert (nodes >= 0).all() and (nodes < network.nodes).all()
        assert len(network.next_literals) == len(network.bases)
        read = network.gate_inputs.astype(np.int64) >> 1
        gate = network.first_gate + np.repeat(np.arange(network.gates), np.diff(network.gate_start))
        if not len(network.loops):
            assert (read < gate).all()

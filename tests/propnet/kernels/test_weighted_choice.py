"""Moves are chosen in proportion to their weights; machines of every kind choose alike."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from gdl.rules import Rules
from propnet.jit.random_numbers import streams
from propnet.jit.vector512 import aligned, splat, store
from propnet.kernels.records import pack, unpack
from propnet.kernels.scratch import HEAVIEST, new_weighted_planes
from propnet.kernels.weighted_choice import UNIFORM, RoleChoice, choose_weighted, policy_of
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeMachine, compile_network
from tests.propnet.circuits import random_network, tic_tac_toe


@njit
def choose_often(times, legal, wires, policy, low, high, out, planes, depth, widths, state, chosen):
    """Choose again and again; chosen[t] are the wires of the moves, some[t] who could."""
    some = np.empty((times, 8), np.uint64)
    for t in range(times):
        wires[out:] = legal
        choice = RoleChoice(wires, policy, low, high, out, planes, depth, widths)
        able, _ = choose_weighted(choice, splat(-1), state)
        store(some, 64 * t, able)
        chosen[t] = wires[out:]
    return some


def choices(legal: np.ndarray, exponents: np.ndarray, times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """bool (times, moves, 512): what is chosen where ``legal`` (moves, 512) says what may be, by the
    second of two roles; and who could choose, bool (times, 512)."""
    moves = len(legal)
    before = 3
    every = np.concatenate((np.arange(before), exponents)).astype(np.uint8)
    policy = policy_of(every, np.array([0, before, before + moves], np.int32))
    planes = new_weighted_planes(moves)
    depth = (len(planes) - 40) // 13
    wires = aligned(7 + before + moves)
    chosen = np.zeros((times, before + moves, 8), np.uint64)
    low, high = (int(n) for n in policy.role_classes[1:])
    packed = np.concatenate((np.zeros((before, 8), np.uint64), pack(legal)))
    some = choose_often(
        times,
        packed,
        wires,
        policy,
        low,
        high,
        7,
        planes,
        depth,
        np.zeros(8, np.int64),
        streams(seed),
        chosen,
    )
    assert not wires[:7].any()
    assert not chosen[:, :before].any()
    drawn = unpack(chosen[:, before:].reshape(-1, 8), 512).reshape(times, moves, 512)
    return drawn, unpack(some, 512)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [2, 3, 5, 8, 17, 64, 100, 300])
def test_each_lane_that_can_chooses_exactly_one_of_its_legal_moves(moves):
    rng = np.random.default_rng(moves)
    legal = rng.random((moves, 512)) < rng.random(512)
    chosen, some = choices(legal, rng.integers(0, HEAVIEST + 1, moves), 5, seed=moves)
    assert not (chosen & ~legal).any()
    np.testing.assert_array_equal(chosen.sum(axis=1), np.broadcast_to(legal.any(axis=0), (5, 512)))
    np.testing.assert_array_equal(some, np.broadcast_to(legal.any(axis=0), (5, 512)))


@pytest.mark.parametrize("moves", [2, 3, 5, 7, 12, 31, 70, 257])
@pytest.mark.parametrize("exponents", [(0, 1), (7, 0), (3,), tuple(range(HEAVIEST + 1)), (2, 4, 5)])
def test_moves_are_chosen_in_proportion_to_their_weights(moves, exponents):
    rng = np.random.default_rng(moves)
    legal = rng.random((moves, 512)) < 0.7
    legal[0] |= ~legal.any(axis=0)
    classes = np.array(exponents)[rng.integers(0, len(exponents), moves)]
    times = 300
    chosen, _ = choices(legal, classes, times, seed=moves)
    counts = chosen.sum(axis=0)
    weights = legal * 2.0 ** classes[:, None]
    expected = times * weights / weights.sum(axis=0)
    # Chi-square per lane, summed. Rare moves make its variance larger than twice its mean.
    chances = expected / times
    inverse = np.divide(1, chances, out=np.zeros_like(chances), where=legal)
    options = legal.sum(axis=0)
    chi = ((counts - expected) ** 2 * inverse / times).sum()
    variance = 2 * (options - 1) + (inverse.sum(axis=0) - options**2 - 2 * options + 2) / times
    assert abs(chi - (options - 1).sum()) < 5 * np.sqrt(variance.sum())
    # All lanes together, by move: what single lanes are too rare for.
    mean = expected.sum(axis=1)
    spread = (expected * (1 - chances)).sum(axis=1)
    assert (np.abs(counts.sum(axis=1) - mean) <= 5 * np.sqrt(spread) + 1e-6).all()


def test_weights_that_no_policy_has_are_refused():
    role_moves = np.array([0, 2], np.int32)
    with pytest.raises(ValueError, match="8"):
        policy_of(np.array([0, HEAVIEST + 1], np.uint8), role_moves)
    with pytest.raises(ValueError, match="2 moves"):
        policy_of(np.zeros(3, np.uint8), role_moves)


@pytest.mark.parametrize("seed", range(3))
def test_interpreted_and_native_machines_play_the_same_weighted_playouts(seed):
    rng = np.random.default_rng(seed)
    network = tic_tac_toe() if seed == 0 else random_network(rng, 20, [7, 4, 1][: seed + 1], 90, loops=seed)
    *_, code = compile_network(network)
    slow, fast = PropnetMachine(Rules(()), network), NativeMachine(Rules(()), network, code)
    assert fast.compiled == 1.0
    policy = policy_of(rng.integers(0, HEAVIEST + 1, network.move_count).astype(np.uint8), slow.role_moves)
    records = pack(rng.random((600, len(network.bases))) < 0.4)
    for starts, each in ((records, 2), (records[:1], 1200)):
        tallies = np.zeros((2, network.move_count, 2), np.int32)
        a = slow.playouts_from(starts, 5, 12, each, policy=policy, tallies=tallies[0])
        b = fast.playouts_from(starts, 5, 12, each, policy=policy, tallies=tallies[1])
        assert (a.goals == b.goals).all()
        assert (a.lengths == b.lengths).all()
        assert (tallies[0] == tallies[1]).all()
        same = slow.playouts_from(starts, 5, 12, each, policy=policy)
        assert (a.goals == same.goals).all()


def test_a_policy_of_equal_weights_is_the_uniform_choice():
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    start = machine.records([machine.initial_state()])
    policy = policy_of(np.full(machine.network.move_count, 5, np.uint8), machine.role_moves)
    plain = machine.playouts_from(start, 3, each=3000)
    for other in (UNIFORM, policy):
        played = machine.playouts_from(start, 3, each=3000, policy=other)
        assert (played.goals == plain.goals).all()
        assert (played.lengths == plain.lengths).all()


def test_a_playout_by_a_policy_can_be_told_move_by_move():
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    rng = np.random.default_rng(2)
    policy = policy_of(rng.integers(0, 8, machine.network.move_count).astype(np.uint8), machine.role_moves)
    start = machine.records([machine.initial_state()])
    played = machine.playouts_from(start, 3, each=700, policy=policy)
    for row in range(0, 700, 53):
        state = machine.initial_state()
        moves = machine.playout_moves(start, row, int(played.lengths[row]), 3, each=700, policy=policy)
        for joint in moves.tolist():
            assert all(m in machine.legal_moves(state, r) for r, m in enumerate(joint))
            state = machine.next_state(state, joint)
        assert machine.is_terminal(state)
        assert [machine.goal(state, r) for r in (0, 1)] == played.goals[row].tolist()

"""Playouts: choices follow their weights, are counted, and go on from call to call."""

from __future__ import annotations

from collections.abc import Iterator

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
from tests.propnet.circuits import countdown, exact, random_network, tic_tac_toe

Ended = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Numbers of playouts, their goals, their lengths."""


def carried(
    machine: PropnetMachine, records: np.ndarray, fewest: int, batch: int, steps: int = 1000, most: int = 1000
) -> Iterator[Ended]:
    """What each call ends, where ``batch`` new playouts join those under way, until all are over."""
    number, made = np.zeros(0, np.int64), np.zeros(0, np.int32)
    states = records[:0]
    for seed, first in enumerate(range(0, 10**6, batch)):
        new = np.arange(first, min(first + batch, len(records)))
        number, made = np.append(number, new), np.append(made, np.zeros(len(new), np.int32))
        if not len(number):
            return
        busy = fewest if len(new) else 1
        ends, playout_in, after = machine.playouts_while(
            busy, most, np.concatenate([states, records[new]]), made, seed, steps
        )
        lanes = np.flatnonzero(playout_in >= 0)
        going = playout_in[lanes]
        assert (len(lanes) < busy or most < 1000) and len(set(going.tolist())) == len(lanes)
        assert (ends.goals[going] == -1).all() and (ends.lengths >= made).all()
        over = np.setdiff1d(np.arange(len(number)), going)
        yield number[over], ends.goals[over], ends.lengths[over]
        number, made, states = number[going], ends.lengths[going], after[lanes]


def together(calls: Iterator[Ended]) -> Ended:
    """What all calls end, in the order of the playouts."""
    numbers, goals, lengths = (np.concatenate(parts) for parts in zip(*calls, strict=True))
    order = np.argsort(numbers)
    np.testing.assert_array_equal(numbers[order], np.arange(len(numbers)))
    return numbers[order], goals[order], lengths[order]


@pytest.mark.parametrize("fewest", [1, 60, 400, 512])
@pytest.mark.parametrize("batch", [1, 128, 700])
def test_each_playout_ends_once_with_its_own_result_and_all_its_steps(fewest, batch):
    rng = np.random.default_rng(fewest + batch)
    counts, labels = rng.integers(0, 64, size=(2, 40 * min(batch, 100)))
    records = (counts | labels << 6).astype(np.uint64)[:, None]
    _, goals, lengths = together(carried(countdown(), records, fewest, batch))
    np.testing.assert_array_equal(goals[:, 0], labels)
    np.testing.assert_array_equal(lengths, counts)


@pytest.mark.parametrize("most", [1, 2, 9])
def test_a_call_ends_after_its_steps_with_all_lanes_busy(most):
    counts = np.random.default_rng(most).integers(20, 64, size=512)
    made = np.zeros(512, np.int32)
    ends, playout_in, _ = countdown().playouts_while(1, most, counts.astype(np.uint64)[:, None], made, 1, 99)
    assert (playout_in >= 0).all() and (ends.lengths == most).all()


@pytest.mark.parametrize("most", [1, 5])
def test_playouts_carried_on_after_a_few_steps_each_time_end_as_they_should(most):
    counts = np.random.default_rng(most).integers(0, 64, size=1000)
    calls = carried(countdown(), counts.astype(np.uint64)[:, None], 300, 60, most=most)
    np.testing.assert_array_equal(together(calls)[2], counts)


@pytest.mark.parametrize("most", [1, 7, 40])
def test_steps_of_earlier_calls_count_for_the_limit(most):
    counts = np.random.default_rng(most).integers(0, 64, size=3000)
    _, _, lengths = together(carried(countdown(), counts.astype(np.uint64)[:, None], 450, 100, most))
    np.testing.assert_array_equal(lengths, np.minimum(counts, most))


def test_the_states_that_are_handed_back_are_those_after_the_steps_made():
    counts = np.random.default_rng(1).integers(20, 64, size=512)
    made = np.zeros(512, np.int32)
    ends, playout_in, states = countdown().playouts_while(
        500, 99, counts.astype(np.uint64)[:, None], made, 1, 99
    )
    lanes = np.flatnonzero(playout_in >= 0)
    assert len(lanes) > 300
    rows = playout_in[lanes]
    np.testing.assert_array_equal(states[lanes, 0], counts[rows] - ends.lengths[rows])


def test_random_tic_tac_toe_carried_on_ends_as_often_as_exact_enumeration_says():
    machine, n = PropnetMachine(Rules(()), tic_tac_toe()), 100_000
    records = np.repeat(machine.records([machine.initial_state()]), n, axis=0)
    _, goals, lengths = together(carried(machine, records, 430, 200))
    chi, chances = 0.0, exact(frozenset(), frozenset())
    for (goal, length), chance in chances.items():
        seen = np.count_nonzero((goals[:, 0] == goal) & (lengths == length))
        chi += (seen - n * float(chance)) ** 2 / (n * float(chance))
    assert chi < len(chances) + 5 * np.sqrt(2 * len(chances))


@pytest.mark.parametrize("seed", range(6))
def test_with_a_single_busy_lane_as_the_fewest_a_call_is_that_of_plain_playouts(seed):
    network = random_network(np.random.default_rng(seed), 8, [3, 2], 60, widest=4)
    machine = PropnetMachine(Rules(()), network)
    records = np.random.default_rng(seed).integers(0, 256, size=(1400, 1)).astype(np.uint64)
    plain = machine.playouts_from(records, seed, 9)
    ends, playout_in, _ = machine.playouts_while(1, 1000, records, np.zeros(1400, np.int32), seed, 9)
    assert (playout_in == -1).all() and ends.cut == plain.cut
    np.testing.assert_array_equal(ends.goals, plain.goals)
    np.testing.assert_array_equal(ends.lengths, plain.lengths)


def test_states_handed_back_are_reached_by_as_many_moves_as_were_made():
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    records = np.repeat(machine.records([machine.initial_state()]), 512, axis=0)
    ends, playout_in, states = machine.playouts_while(512, 99, records, np.zeros(512, np.int32), 3, 99)
    lanes = np.flatnonzero(playout_in >= 0)
    marks = unpack(states[lanes], len(machine.network.bases))
    cells = [i for i, base in enumerate(machine.network.bases) if "cell" in str(base)]
    np.testing.assert_array_equal(marks[:, cells].sum(axis=1), ends.lengths[playout_in[lanes]])


# --- The moves that are counted are those that playouts made by choice
def replayed(machine, starts, each, seed, steps, policy, played, counted):
    """The tallies (moves, 2) by playing every playout again, move by move."""
    tallies = np.zeros((machine.network.move_count, 2), np.int32)
    begins = machine.role_moves.tolist()
    for row, length in enumerate(played.lengths.tolist()):
        if row % each >= counted:
            continue
        state = machine.states(starts[row // each : row // each + 1])[0]
        made = set()
        moves = machine.playout_moves(starts, row, length, seed, steps, each, policy)
        for joint in moves.tolist():
            for role, move in enumerate(joint):
                if len(machine.legal_moves(state, role)) > 1:
                    made.add((role, move))
            state = machine.next_state(state, joint)
        for role, move in made:
            goal = int(played.goals[row, role])
            if goal >= 0:
                tallies[begins[role] + move] += 1, goal
    return tallies


@pytest.mark.parametrize("game", [0, 1, 2])
def test_tallies_are_what_playing_the_playouts_again_counts(game):
    rng = np.random.default_rng(300 + game)  # of networks in which some playouts have a result
    moves = [[], [70, 3], [5, 1, 4]][game]
    network = random_network(rng, 12, moves, 60, loops=game) if moves else tic_tac_toe()
    machine = PropnetMachine(Rules(()), network)
    policy = UNIFORM
    if game == 1:
        policy = policy_of(rng.integers(0, 8, network.move_count).astype(np.uint8), machine.role_moves)
    records = pack(rng.random((20, len(network.bases))) < 0.2)
    if game == 0:
        records[:] = machine.records([machine.initial_state()])
    each, seed, steps = 30, 4, 9
    played = machine.playouts_from(records, seed, steps, each, policy=policy)
    for counted in (each, 7):
        part = np.ones((network.move_count, 2), np.int32)
        machine.playouts_from(
            records,
            seed,
            steps,
            each,
            policy=policy,
            tallies=part,
            counted=None if counted == each else counted,
        )
        expected = replayed(machine, records, each, seed, steps, policy, played, counted)
        np.testing.assert_array_equal(part - 1, expected)
        assert expected.any()


def test_counting_changes_no_playout():
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    start = machine.records([machine.initial_state()])
    tallies = np.zeros((machine.network.move_count, 2), np.int32)
    plain = machine.playouts_from(start, 1, each=2000)
    played = machine.playouts_from(start, 1, each=2000, tallies=tallies)
    assert (plain.goals == played.goals).all()
    assert (plain.lengths == played.lengths).all()
    # Every playout marks three squares or more for x, in steps where it has more than one move.
    assert 3 * 2000 <= tallies[:10, 0].sum() <= 5 * 2000
    assert tallies[9].tolist() == [0, 0]


def test_tallies_of_a_wrong_shape_are_refused():
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    start = machine.records([machine.initial_state()])
    with pytest.raises(ValueError, match="tallies"):
        machine.playouts_from(start, 1, each=5, tallies=np.zeros((1, 20, 2), np.int32))


# --- Moves are chosen in proportion to their weights; machines of every kind choose alike
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

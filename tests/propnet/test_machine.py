"""`PropnetMachine` means what its network means, for one state and for any number at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gdl.ends import stuck_roles
from gdl.errors import MoveError, StateError
from gdl.rules import Rules
from propnet.kernels import kernel_args as code
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from tests.propnet.circuits import Circuit, countdown, exact, naive, random_network, term, tic_tac_toe


@pytest.fixture(scope="module")
def tictactoe() -> PropnetMachine:
    return PropnetMachine(Rules(()), tic_tac_toe())


def random_states(machine: PropnetMachine, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, size=(n, len(machine.network.bases))) > 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [1, 2, 511, 513])
def test_many_states_at_once_get_the_answers_of_naive_evaluation(seed, n):
    rng = np.random.default_rng(seed)
    moves = [int(m) for m in rng.integers(1, 80, size=1 + seed % 3)]
    network = random_network(rng, int(rng.integers(1, 140)), moves, 120, loops=seed % 2)
    machine = PropnetMachine(Rules(()), network)
    bits = random_states(machine, n, seed)
    joints = np.stack([rng.integers(0, m, size=n) for m in moves], axis=1).astype(np.int32)
    evaluation = machine.evaluate(pack(bits))
    legal = unpack(evaluation.legal, network.move_count)
    after = unpack(machine.successors(pack(bits), joints), len(network.bases))
    for i in range(0, n, 61):
        value = naive(network, bits[i], joints[i])
        assert evaluation.terminal[i] == value[network.terminal_literal]
        assert legal[i].tolist() == [value[x] for x in network.legal_literals]
        assert after[i].tolist() == [value[x] for x in network.next_literals]
        for role in range(len(moves)):
            values = {v for r, v, x in network.goals.tolist() if r == role and value[x]}
            assert evaluation.goals[i, role] == max(values, default=-1)


@pytest.mark.parametrize("seed", range(4))
def test_expand_gives_every_joint_move_and_its_successor(seed):
    network = random_network(np.random.default_rng(seed), 12, [5, 4], 80)
    machine = PropnetMachine(Rules(()), network)
    states = machine.states(pack(random_states(machine, 40, seed)))
    for state, options in zip(states, machine.expand(states), strict=True):
        joints = np.array([joint for joint, _ in options], np.int32).reshape(-1, 2)
        assert (len(set(map(tuple, joints.tolist()))) == len(joints)) and (state.terminal == (not options))
        records = machine.records([state] * len(joints))
        assert machine.states(machine.successors(records, joints)) == [after for _, after in options]
    assert machine.expand([]) == []


def test_names_ids_and_states_go_in_and_out(tictactoe):
    start = tictactoe.initial_state()
    assert start.propositions == {term("control")}
    assert tictactoe.state_of([term("control")]) == start
    for role in (0, 1):
        for index in range(10):
            assert tictactoe.move_id(role, tictactoe.move(role, index)) == index
    for index in range(19):
        assert tictactoe.proposition_id(tictactoe.proposition(index)) == index
    after = start.play("(mark 2 2)")
    assert after.propositions == {term("cell", 2, 2, "x")}
    assert tictactoe.legal_moves(after, 0) == [9]
    assert tictactoe.legal_moves(after, 1) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert pickle.loads(pickle.dumps(after.key)) == after.key
    with pytest.raises(StateError):
        tictactoe.state_of([term("cell", 4, 4, "x")])
    with pytest.raises(MoveError):
        tictactoe.move_id(0, term("jump"))
    with pytest.raises(MoveError):
        tictactoe.next_state(start, [10, 0])
    with pytest.raises(MoveError):
        tictactoe.next_state(start, [-1, 0])


@pytest.mark.parametrize("batch", ["one start", "many starts"])
def test_random_tic_tac_toe_ends_as_often_as_exact_enumeration_says(tictactoe, batch):
    n = 200_000
    if batch == "one start":
        played = tictactoe.playouts(n, seed=3)
    else:
        start = tictactoe.records([tictactoe.initial_state()])
        played = tictactoe.playouts_from(np.repeat(start, n, axis=0), seed=3)
    assert played.cut == 0
    chances = exact(frozenset(), frozenset())
    assert sum(chances.values()) == 1
    np.testing.assert_array_equal(played.goals.sum(axis=1), 100)
    chi = 0.0
    for (goal, length), chance in chances.items():
        seen = np.count_nonzero((played.goals[:, 0] == goal) & (played.lengths == length))
        chi += (seen - n * float(chance)) ** 2 / (n * float(chance))
    assert chi < len(chances) + 5 * np.sqrt(2 * len(chances))


def test_every_playout_of_a_small_batch_is_as_fair_as_those_of_a_large_one(tictactoe):
    # Long playouts must not be lost where there are few more jobs than lanes.
    lengths = np.concatenate([tictactoe.playouts(600, seed=s).lengths for s in range(200)])
    chances = exact(frozenset(), frozenset())
    mean = float(sum(length * chance for (_, length), chance in chances.items()))
    square = float(sum(length**2 * chance for (_, length), chance in chances.items()))
    assert abs(lengths.mean() - mean) < 5 * np.sqrt((square - mean**2) / len(lengths))


@pytest.mark.parametrize("n", [0, 1, 2, 63, 512, 513, 5000])
def test_result_i_belongs_to_start_i(n):
    machine = countdown()
    rng = np.random.default_rng(n)
    counts, labels = rng.integers(0, 64, size=(2, n))
    records = (counts | labels << 6).astype(np.uint64)[:, None]
    played = machine.playouts_from(records, seed=1)
    assert played.cut == 0
    assert played.goals.shape == (n, 1) and played.goals.dtype == np.int16
    np.testing.assert_array_equal(played.goals[:, 0], labels)
    np.testing.assert_array_equal(played.lengths, counts)


@pytest.mark.parametrize("most", [0, 1, 7, 40])
def test_playouts_are_cut_at_the_step_limit_and_not_before(most):
    machine = countdown()
    counts = np.random.default_rng(most).integers(0, 64, size=3000)
    played = machine.playouts_from(counts.astype(np.uint64)[:, None], max_steps=most)
    np.testing.assert_array_equal(played.lengths, np.minimum(counts, most))
    assert played.cut == np.count_nonzero(counts > most)
    assert (played.goals == 0).all()


def test_a_playout_stops_and_counts_as_cut_where_a_role_has_no_move():
    c = Circuit([term("stuck")], [[term("go"), term("stay")], [term("wait")]])
    stuck = c.base(term("stuck"))
    c.moves_from_here()
    following = c.any_of([stuck, c.move(0, term("go"))])
    network = c.network([following], [0, 0, stuck ^ 1], [(0, 10, 0), (1, 20, 0)], 1, [False])
    played = PropnetMachine(Rules(()), network).playouts(20_000, seed=2)
    assert played.cut == 20_000
    assert (played.goals == -1).all(), "it has no result, although goals hold there"
    # The number of steps until "go" is chosen with chance 1/2 is geometric: mean 2, variance 2.
    assert played.lengths.min() == 1
    assert abs(played.lengths.mean() - 2) < 5 * np.sqrt(2 / 20_000)


def test_playouts_start_where_they_are_told(tictactoe):
    state = tictactoe.initial_state().play("(mark 1 1)").play("(mark 2 2)").play("(mark 1 2)")
    played = tictactoe.playouts(20_000, seed=1, state=state)
    chances = exact(frozenset({(1, 1), (1, 2)}), frozenset({(2, 2)}))
    won = float(sum(chance for (goal, _), chance in chances.items() if goal == 100))
    assert abs((played.goals[:, 0] == 100).mean() - won) < 5 * np.sqrt(won * (1 - won) / 20_000)


def test_the_seed_decides_the_playouts(tictactoe):
    one, two, other = (tictactoe.playouts(2000, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(one.goals, two.goals)
    np.testing.assert_array_equal(one.lengths, two.lengths)
    assert (one.lengths != other.lengths).any()


def test_the_moves_of_a_playout_lead_where_it_went(tictactoe):
    records = np.repeat(tictactoe.records([tictactoe.initial_state()]), 700, axis=0)
    played = tictactoe.playouts_from(records, seed=8)
    for row in (0, 1, 511, 512, 699):
        moves = tictactoe.playout_moves(records, row, int(played.lengths[row]), seed=8)
        state = tictactoe.initial_state()
        for joint in moves.tolist():
            assert not tictactoe.is_terminal(state)
            assert all(m in tictactoe.legal_moves(state, r) for r, m in enumerate(joint))
            state = tictactoe.next_state(state, joint)
        assert tictactoe.is_terminal(state)
        assert [tictactoe.goal(state, r) for r in (0, 1)] == played.goals[row].tolist()


@pytest.mark.parametrize("starts", [1, 700])
@pytest.mark.parametrize("flush", [-1_000_000, 10_000_000])
def test_lanes_parked_until_goals_pay_report_the_goals_of_their_last_states(monkeypatch, starts, flush):
    monkeypatch.setattr(code, "FLUSH", flush)
    for seed in range(4):
        # Goals of many gates: lanes wait for each other before these are evaluated.
        network = random_network(np.random.default_rng(seed), 8, [3, 2], 60, widest=4)
        machine = PropnetMachine(Rules(()), network)
        rng = np.random.default_rng(seed)
        records = pack(rng.random((starts, 8)) < 0.5)
        played = machine.playouts_from(np.repeat(records, 1400 // starts, axis=0), seed=seed, max_steps=5)
        records = np.repeat(records, 1400 // starts, axis=0)
        for row in (0, 1, 255, 511, 512, 699, 700, 1399):
            state = machine.states(records[row : row + 1])[0]
            moves = machine.playout_moves(records, row, int(played.lengths[row]), seed=seed, max_steps=5)
            for joint in moves.tolist():
                assert all(m in machine.legal_moves(state, r) for r, m in enumerate(joint))
                state = machine.next_state(state, joint)
            goals = [machine.result(state, r) for r in range(2)]
            if played.lengths[row] < 5 and stuck_roles(state):
                goals = [None, None]
            assert [-1 if g is None else g for g in goals] == played.goals[row].tolist()


def test_a_game_without_bases_or_goals_works():
    c = Circuit([], [[term("noop")]])
    machine = PropnetMachine(Rules(()), c.network([], [0], [], 0, []))
    start = machine.initial_state()
    assert machine.is_terminal(start)
    assert machine.legal_moves(start, 0) == [0]
    assert machine.goal(start, 0) is None
    assert machine.next_state(start, [0]) == start
    assert machine.playouts(3).lengths.tolist() == [0, 0, 0]

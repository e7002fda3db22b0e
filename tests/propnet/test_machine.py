"""The propnet machine means what its network means, one state as 512 lanes, and agrees with the prover."""

from __future__ import annotations

import pickle
import random
from collections.abc import Hashable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.ends import stuck_roles
from gdl.errors import GdlError, MoveError, StateError
from gdl.grounding.pipeline import ground
from gdl.information import hides
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import SEES
from ggp.game import Game
from ggp.rule_files import installed_games
from propnet.analysis.cones import without_dead_gates
from propnet.build import build
from propnet.expander import Expander
from propnet.kernels import kernel_args as code
from propnet.kernels.kernel_args import with_rests
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine
from propnet.network import Network
from propnet.rests import Rest, rests
from propnet.single import one_state
from propnet.single.one_state import EXTRAS, HEAVY, OneState, wire_up
from propnet.storage.network_bytes import from_bytes, to_bytes
from tests.examples import examples
from tests.machines import network as machine_of
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


# --- The propnet machine and the prover say the same about the games that come along
NAMES = [
    "tictactoe",
    "connectfour",
    "biddingtictactoe",
    "breakthrough",
    "atarigo",
    "hex",
    "sokoban",
    "chinesecheckers",
]


def machines(name: str) -> tuple[PropnetMachine, ProverMachine]:
    machine = machine_of(name)
    return machine, ProverMachine(machine.rules)


@pytest.mark.parametrize("name", NAMES)
def test_along_random_matches_states_moves_ends_and_goals_are_those_of_the_prover(name):
    network, prover = machines(name)
    rng = random.Random(name)
    roles = range(len(prover.roles))
    for _ in range(2):
        ours, theirs = network.initial_state(), prover.initial_state()
        for _ in range(25):
            assert ours.propositions == theirs.propositions
            assert ours.terminal == theirs.terminal
            assert ours.goals == theirs.goals
            assert {r: sorted(m) for r, m in ours.legal.items()} == {
                r: sorted(m) for r, m in theirs.legal.items()
            }
            if theirs.terminal:
                break
            joint = [prover.move(r, rng.choice(prover.legal_moves(theirs, r))) for r in roles]
            ours, theirs = ours.play(*joint), theirs.play(*joint)


@pytest.mark.parametrize("name", ["tictactoe", "biddingtictactoe"])
def test_random_playouts_end_alike(name):
    network, prover = machines(name)
    many = network.playouts(20_000, seed=1)
    few = prover.playouts(150, seed=1)
    assert many.cut == few.cut == 0
    spread = many.lengths.std()
    assert abs(many.lengths.mean() - few.lengths.mean()) <= 5 * spread / 150**0.5 + 1e-9
    for role in range(len(prover.roles)):
        spread = many.goals[:, role].std()
        assert abs(many.goals[:, role].mean() - few.goals[:, role].mean()) <= 5 * spread / 150**0.5 + 1e-9


BOTH = """(role a) (role b) (init (n 0)) (init (turn a))
(succ 0 1) (succ 1 2)
(<= (legal ?r up) (true (turn ?r))) (<= (legal ?r down) (true (turn ?r)))
(<= (legal a noop) (true (turn b))) (<= (legal b noop) (true (turn a)))
(<= (next (turn a)) (true (turn b))) (<= (next (turn b)) (true (turn a)))
(<= (next (n ?k)) (true (n ?j)) (succ ?j ?k))
(<= (next won) (does a up)) (<= (next won) (true won))
(<= terminal (true (n 2)))
(<= (goal a 100) (true won)) (<= (goal a 0) (true (n ?k))) (<= (goal b 0) (true won))
(<= (goal b 100) (not (true won)))"""
"""Whoever wins as ``a`` is given 0 as well, as in some public games."""


def test_of_several_goals_the_highest_counts_in_play_on_every_machine():
    network = machine_of(BOTH)
    for machine in (network, ProverMachine(network.rules)):
        won = machine.initial_state().play("up", "noop").play("noop", "up")
        lost = machine.initial_state().play("down", "noop").play("noop", "up")
        assert won.terminal and lost.terminal
        assert [machine.goal(won, role) for role in range(2)] == [None, 0]
        assert [machine.result(won, role) for role in range(2)] == [100, 0]
        assert [machine.result(lost, role) for role in range(2)] == [0, 100]
        many = machine.playouts(64, seed=1)
        assert set(map(tuple, many.goals.tolist())) == {(100, 0), (0, 100)}
    record = network.records([network.initial_state().play("up", "noop")])
    assert set(map(tuple, Expander(network).expand(record, judged=True).goals.tolist())) == {(100, 0)}


# --- Percepts in the network: as the prover has them, on every machine, and nothing new without ``sees``
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


# --- A role is said to rest only where none of its moves but the waiting one is legal
PUBLIC = ("breakthrough", "amazons_8x8", "knightThrough", "checkers", "connectFour", "chineseCheckers2")


def is_resting(network: Network, states: np.ndarray, known: Rest) -> np.ndarray:
    """In which states, bool (n, bases), a role rests, by its keys."""
    asleep = np.ones(len(states), np.bool_)
    for key in known.keys:
        asleep &= states[:, (key >> 1) - 1] == bool(key & 1)
    return asleep


def assert_right(machine: PropnetMachine, states: np.ndarray) -> int:
    """Where a role rests only its waiting move may be legal; how many times one does."""
    times = 0
    legal = unpack(machine.evaluate(pack(states)).legal, machine.network.move_count)
    for known, (low, high) in zip(rests(machine.network), pairwise(machine.role_moves), strict=True):
        if known is not None:
            own = legal[:, low:high].copy()
            own[:, known.waiting] = False
            asleep = is_resting(machine.network, states, known)
            assert not own[asleep].any()
            times += int(asleep.sum())
    return times


def test_roles_rest_only_where_no_other_move_is_legal_in_any_state_of_random_networks() -> None:
    rng = np.random.default_rng(3)
    times = 0
    for _ in range(60):
        network = random_network(rng, 6, [3, 4], 25, widest=4, loops=int(rng.integers(2)))
        states = rng.random((512, 6)) < 0.5
        times += assert_right(PropnetMachine(Rules(()), network), states)
    assert times > 100


def test_in_tic_tac_toe_a_role_rests_while_it_is_not_its_turn() -> None:
    network = tic_tac_toe()
    turn = 2 * (1 + network.bases.index(next(base for base in network.bases if base.name == "control")))
    assert rests(network) == [Rest(9, (turn,)), Rest(9, (turn ^ 1,))]


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_in_games_in_turn_it_is_known_when_each_role_rests(corpus: Path, name: str) -> None:
    machine = Game.load(corpus / "games" / f"{name}.kif").machine("propnet")
    assert isinstance(machine, PropnetMachine)
    assert all(rests(machine.network))
    records = machine.records([machine.initial_state()])
    rng = np.random.default_rng(1)
    times = 0
    for _ in range(30):
        states = unpack(records, len(machine.network.bases))
        times += assert_right(machine, states)
        evaluation = machine.evaluate(records)
        going = ~evaluation.terminal
        if not going.any():
            break
        records, legal = records[going], unpack(evaluation.legal[going], machine.network.move_count)
        records, legal = np.repeat(records, 2, axis=0)[:200], np.repeat(legal, 2, axis=0)[:200]
        chosen = [
            (legal[:, low:high] * rng.random((len(legal), high - low))).argmax(axis=1)
            for low, high in pairwise(machine.role_moves)
        ]
        records = machine.successors(records, np.stack(chosen, axis=1).astype(np.int32))
    assert times > 100


def test_playouts_are_the_same_whether_or_not_it_is_known_when_roles_rest() -> None:
    """Those that rest draw nothing, and what lanes hold that play nothing makes no difference."""
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    known = machine.playouts(3000, seed=5)
    machine.kernel_args = with_rests(machine.kernel_args, [None, None])
    unknown = machine.playouts(3000, seed=5)
    np.testing.assert_array_equal(known.goals, unknown.goals)
    np.testing.assert_array_equal(known.lengths, unknown.lengths)


def test_playouts_from_starts_in_which_different_roles_move_are_legal_lines_to_their_ends() -> None:
    """Lanes that are out of turn wait for a step, which is no part of their playouts."""
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    first = machine.records([machine.initial_state()])
    second = machine.successors(first, np.array([[4, 9]], np.int32))
    starts = np.concatenate((first, second, second))[np.arange(1500) % 3]
    played = machine.playouts_from(starts, 7, 100)
    for row in range(0, 1500, 59):
        length = int(played.lengths[row])
        [state] = machine.states(starts[row : row + 1])
        for joint in machine.playout_moves(starts, row, length, 7, 100).tolist():
            assert not machine.is_terminal(state)
            assert all(move in moves for move, moves in zip(joint, machine.options(state), strict=True))
            state = machine.next_state(state, joint)
        assert machine.is_terminal(state)
        assert [machine.goal(state, role) for role in (0, 1)] == played.goals[row].tolist()


# --- One state at a time says of any state, and after any move, what 512 lanes say: bit for bit
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

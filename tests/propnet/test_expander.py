"""Batched expansion gives what the prover and the machine's single steps give, in bounded rows."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import StateError, TooLargeError
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from propnet.expander import Expander, Expansion
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.propnet.circuits import random_network, tic_tac_toe

machine_of = cache(network)


def visited(machine: PropnetMachine, walks: int, steps: int, seed: int) -> np.ndarray:
    """Records of the states that random walks visit, their last ones too."""
    rng = np.random.default_rng(seed)
    now = np.repeat(machine.records([machine.initial_state()]), walks, axis=0)
    seen = [now[:1]]
    for _ in range(steps):
        after = Expander(machine).expand(now)
        if not len(after):
            break
        order = rng.permutation(len(after))
        now = after.records[order[np.unique(after.parents[order], return_index=True)[1]]]
        seen.append(now)
    return np.concatenate(seen)


def random_machine(seed: int, bases: int, moves: list[int]) -> PropnetMachine:
    return PropnetMachine(Rules(()), random_network(np.random.default_rng(seed), bases, moves, 90))


def random_records(bases: int, n: int, seed: int) -> np.ndarray:
    return pack(np.random.default_rng(seed).integers(0, 2, size=(n, bases)) > 0)


def expected(machine: PropnetMachine, records: np.ndarray) -> Expansion:
    """The same by the machine's other methods on records, one joint move after the other."""
    evaluation = machine.evaluate(records)
    legal = unpack(evaluation.legal, machine.network.move_count)
    parents: list[int] = []
    joints: list[tuple[int, ...]] = []
    for i, row in enumerate(legal):
        options = [np.flatnonzero(row[low:high]).tolist() for low, high in pairwise(machine.role_moves)]
        for joint in product(*options) if not evaluation.terminal[i] else ():
            parents.append(i)
            joints.append(joint)
    moves = np.array(joints, np.int32).reshape(-1, len(machine.roles))
    after = machine.successors(records[parents], moves)
    judged = machine.evaluate(after)
    goals = np.where(judged.terminal[:, None], judged.goals, -1)
    return Expansion(np.array(parents, np.int32), moves, after, judged.terminal, goals.astype(np.int16))


def assert_same(expansion: Expansion, wanted: Expansion, judged: bool = True) -> None:
    np.testing.assert_array_equal(expansion.parents, wanted.parents)
    np.testing.assert_array_equal(expansion.moves, wanted.moves)
    np.testing.assert_array_equal(expansion.records, wanted.records)
    np.testing.assert_array_equal(expansion.terminal, wanted.terminal if judged else [])
    if judged:
        np.testing.assert_array_equal(expansion.goals, wanted.goals)


@pytest.mark.parametrize(
    "game",
    [
        "tictactoe",
        "connectfour",
        "eightpuzzle",
        "hanoi",
        "sokoban",
        "biddingtictactoe",
        "rockpaperscissors",
        "tron",
        "chinesecheckers",
        "nim",
    ],
)
def test_successors_are_those_of_the_prover(game):
    machine = machine_of(game)
    prover = ProverMachine(machine.rules)
    records = visited(machine, 3, 200, seed=1)
    records = records[np.random.default_rng(2).permutation(len(records))[:10]]
    records = np.concatenate([records, visited(machine, 1, 200, seed=3)[-1:]])
    expansion = Expander(machine).expand(records, judged=True)
    after = machine.states(expansion.records)
    for i, state in enumerate(machine.states(records)):
        ours = {}
        for row in np.flatnonzero(expansion.parents == i).tolist():
            joint = tuple(machine.move(r, m) for r, m in enumerate(expansion.moves[row].tolist()))
            goals = [machine.goal(after[row], r) for r in range(len(machine.roles))]
            ours[joint] = after[row].propositions, bool(expansion.terminal[row]), goals
        theirs = {}
        for joint, following in prover.expand([prover.state_of(state.propositions)])[0]:
            goals = [prover.goal(following, r) for r in range(len(prover.roles))]
            moves = tuple(prover.move(r, m) for r, m in enumerate(joint))
            theirs[moves] = following.propositions, prover.is_terminal(following), goals
        assert ours == theirs


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    bases=st.integers(1, 200),
    moves=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    n=st.sampled_from([0, 1, 2, 63, 64, 65, 511, 512, 513]),
    rows=st.sampled_from([1, 7, 512, 3000, 1 << 16]),
    judged=st.booleans(),
)
def test_any_network_and_any_number_of_rows_give_what_single_steps_give(seed, bases, moves, n, rows, judged):
    machine = random_machine(seed, bases, moves)
    if rows == 1:
        n = min(n, 3)
    records = random_records(bases, n, seed)
    expander = Expander(machine, rows)
    chunks = []
    for chunk in expander.stream(records, judged):
        assert 1 <= len(chunk) <= rows
        chunks.append(chunk.copy())
    wanted = expected(machine, records)
    for part, whole in (("parents", wanted.parents), ("moves", wanted.moves), ("records", wanted.records)):
        parts = [getattr(chunk, part) for chunk in chunks]
        np.testing.assert_array_equal(np.concatenate([whole[:0], *parts]), whole)
    assert_same(expander.expand(records, judged), wanted, judged)


@pytest.mark.parametrize("costs", [(1, 0, 10**6), (10**6, 0, 1), (400, 2, 900)])
def test_sparse_and_dense_passes_find_the_same(costs):
    for moves in ([9], [4, 1, 3], [1, 1]):
        machine = random_machine(11, 70, moves)
        records = random_records(70, 1300, 12)
        expander = Expander(machine, 4000)
        expander._costs[:] = costs
        assert_same(expander.expand(records, judged=True), expected(machine, records))


def test_the_machine_may_be_used_between_chunks():
    machine = machine_of("tictactoe")
    records = visited(machine, 200, 6, seed=7)
    other = Expander(machine, 50)
    chunks = []
    for chunk in Expander(machine, 700).stream(records):
        chunks.append(chunk.copy())
        machine.playouts(20)
        next(other.stream(records))
    np.testing.assert_array_equal(
        np.concatenate([chunk.records for chunk in chunks]), expected(machine, records).records
    )


def test_a_joint_move_count_beyond_all_rows_is_streamed():
    # 12 roles with 9 moves each: nearly 9**12 joint moves, of which the first ones are looked at.
    network = random_network(np.random.default_rng(3), 12, [9] * 12, 60)
    machine = PropnetMachine(Rules(()), network)
    records = random_records(12, 40, 4)
    legal = unpack(machine.evaluate(records).legal, network.move_count).reshape(40, 12, 9).sum(axis=2)
    stream = Expander(machine, 500).stream(records)
    chunks = [next(stream).copy() for _ in range(5)]
    parents = np.concatenate([chunk.parents for chunk in chunks])
    moves = np.concatenate([chunk.moves for chunk in chunks])
    playable = np.flatnonzero(legal.prod(axis=1) * ~machine.evaluate(records).terminal)
    assert prod(legal[playable[0]].tolist()) > len(moves)
    assert set(parents.tolist()) == {int(playable[0])}
    row = unpack(machine.evaluate(records).legal, network.move_count)[playable[0]].reshape(12, 9)
    options = product(*(np.flatnonzero(some).tolist() for some in row))
    np.testing.assert_array_equal(moves, [next(options) for _ in range(len(moves))])
    after = machine.successors(records[parents], moves)
    np.testing.assert_array_equal(np.concatenate([chunk.records for chunk in chunks]), after)
    with pytest.raises(TooLargeError):
        Expander(machine).expand(records, most=1000)


def test_records_of_another_width_are_refused():
    machine = PropnetMachine(Rules(()), tic_tac_toe())
    with pytest.raises(StateError):
        Expander(machine).expand(np.zeros((3, machine.words + 1), np.uint64))
    with pytest.raises(StateError):
        Expander(machine).expand(np.zeros(3, np.uint64))
    with pytest.raises(ValueError, match="0 rows"):
        Expander(machine, 0)


def levels(game: str, most: int = 100) -> list[int]:
    """Sizes of the levels of a breadth-first search that does not look at numbers of steps."""
    machine = machine_of(game)
    keep = [not str(base).startswith("(step ") for base in machine.network.bases]
    mask = pack(np.array([keep]))[0]
    expander = Expander(machine, 5000)
    level = machine.records([machine.initial_state()])
    seen = {(level[0] & mask).tobytes()}
    sizes = [1]
    while len(sizes) < most:
        following = []
        for chunk in expander.stream(level):
            for row, key in enumerate(chunk.records & mask):
                if key.tobytes() not in seen:
                    seen.add(key.tobytes())
                    following.append(chunk.records[row].copy())
        if not following:
            break
        sizes.append(len(following))
        level = np.array(following)
    return sizes


def test_games_have_their_known_levels():
    assert levels("tictactoe") == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    assert levels("connectfour", 6) == [1, 7, 49, 238, 1120, 4263]
    assert levels("pegsolitaire", 7) == [1, 4, 12, 60, 296, 1338, 5648]
    assert levels("lightsout", 5) == [comb(25, presses) for presses in range(5)]
    # All states of five disks; 31 moves lead from a tower to the farthest ones.
    hanoi = levels("hanoi")
    assert (sum(hanoi), len(hanoi), hanoi[-1]) == (3**5, 2**5, 2**5)

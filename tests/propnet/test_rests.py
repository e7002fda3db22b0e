"""A role is said to rest only where none of its moves but the waiting one is legal, and where roles take
turns that is known of all."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gdl.rules import Rules
from ggp.game import Game
from propnet.kernels.kernel_args import with_rests
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.rests import Rest, rests
from tests.propnet.circuits import random_network, tic_tac_toe

PUBLIC = (
    "breakthrough",
    "amazons_8x8",
    "knightThrough",
    "checkers",
    "connectFour",
    "chineseCheckers2",
)


def resting(network: Network, states: np.ndarray, known: Rest) -> np.ndarray:
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
            asleep = resting(machine.network, states, known)
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

"""The moves that are counted are those that playouts made by choice."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.rules import Rules
from propnet.kernels.records import pack
from propnet.kernels.weighted_choice import UNIFORM, policy_of
from propnet.machine import PropnetMachine
from tests.propnet.circuits import random_network, tic_tac_toe


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

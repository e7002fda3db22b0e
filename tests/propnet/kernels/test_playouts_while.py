"""Playouts that a call leaves under way go on in the next one as if nothing had been."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gdl.rules import Rules
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
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

"""Values learnt by play against itself: sums by octets are right, what can be learnt is learnt and used."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ggp.game import Game
from players.batch_machine import NetworkBatch
from players.evaluation import BITS, Evaluation, chances, tables_of
from players.evaluation_fit import Features, fit
from players.evaluation_kernel import NOBODY, SEVERAL, add_back, add_up, draw
from players.evaluation_lessons import Lessons
from players.evaluation_use import LearntValue, warm_up
from players.uct.rollouts.trial import ByPlayouts, Trial
from players.uct.tuning import Tuning
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine


def machine_of(name: str) -> PropnetMachine:
    machine = Game.load(name).machine("propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


def random_bits(rng: np.random.Generator, n: int, bits: int) -> NDArray[np.bool_]:
    return rng.random((n, bits)) < rng.random(bits)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 4), roles=st.integers(1, 3))
def test_sums_by_octets_are_products_with_weights_and_go_back(seed: int, words: int, roles: int) -> None:
    rng = np.random.default_rng(seed)
    bits = random_bits(rng, 50, 64 * words)
    weights = rng.normal(size=(roles, 64 * words))
    sums = np.empty((50, roles), np.float32)
    add_up(tables_of(weights), pack(bits), sums)
    assert np.allclose(sums, bits @ weights.T, atol=1e-3)
    amounts = rng.normal(size=50).astype(np.float32)
    counts = np.zeros((8 * words, 256), np.float32)
    add_back(pack(bits), amounts, counts)
    assert np.allclose((counts @ BITS).reshape(-1), amounts @ bits, atol=1e-3)


def test_gradients_of_shared_parameters_are_those_of_their_weights() -> None:
    machine = machine_of("tictactoe")
    features = Features(machine.network.bases, machine.words)
    assert features.count > features.bits
    rng = np.random.default_rng(1)
    parameters, by_bit = rng.normal(size=features.count), rng.normal(size=features.bits)
    assert features.weights(parameters) @ by_bit == pytest.approx(parameters @ features.gradient(by_bit))


def test_regression_finds_the_weights_that_made_the_results() -> None:
    machine = machine_of("tictactoe")
    features = Features(machine.network.bases, machine.words)
    rng = np.random.default_rng(2)
    used = len(machine.network.bases)
    weights = np.zeros(features.bits)
    weights[:used] = rng.normal(size=used)
    bits = random_bits(rng, 40_000, used)
    expected = chances((bits @ weights[:used]).astype(np.float32))
    results = (rng.random(len(bits)) < expected).astype(np.float64)
    found = fit(features, pack(bits), results, np.zeros(features.count), lambda: False)
    foretold = chances((bits @ features.weights(found)[:used]).astype(np.float32))
    assert np.abs(foretold - expected).mean() < 0.02


def test_a_sure_win_is_drawn_and_without_noise_the_best_sum() -> None:
    parents = np.array([0, 0, 0, 1, 1, 2, 2], np.int32)
    moves = np.array([[0, 0], [1, 0], [2, 0], [0, 0], [0, 1], [0, 0], [1, 1]], np.int32)
    records = np.arange(1, 8, dtype=np.uint64).reshape(-1, 1)
    terminal = np.array([0, 1, 0, 0, 0, 0, 0], np.bool_)
    goals = np.full((7, 2), -1, np.int16)
    goals[1] = 100, 0
    weights = np.zeros((2, 64))
    weights[1, 0] = 10.0  # of the records 4 and 5 that of 5 has this bit
    state = np.array([7], np.uint64)
    sharp = np.full(3, 100.0, np.float32)
    firsts, movers = np.full((3, 2), -1, np.int32), np.full(3, NOBODY, np.int16)
    keys, after = np.full(3, -np.inf, np.float32), np.zeros((3, 1), np.uint64)
    over, ends = np.zeros(3, np.bool_), np.zeros((3, 2), np.int16)
    tables = tables_of(weights)
    for part in (slice(0, 2), slice(2, 7)):  # the chunks of an expansion part where they like
        chunk = parents[part], moves[part], records[part], terminal[part], goals[part]
        draw(*chunk, tables, sharp, state, firsts, movers, keys, after, over, ends)
    assert movers.tolist() == [0, 1, SEVERAL]
    assert after[:2, 0].tolist() == [2, 5]
    assert over.tolist() == [True, False, False]
    assert ends[0].tolist() == [100, 0]


def learnt(name: str) -> tuple[PropnetMachine, Evaluation]:
    """The value that is found by the first lessons."""
    machine = machine_of(name)
    lessons = Lessons(machine, 1)
    for _ in lessons.go_on(math.inf):
        if lessons.evaluation is not None:
            break
    assert lessons.evaluation is not None
    return machine, lessons.evaluation


def test_learns_what_is_good_in_tic_tac_toe() -> None:
    machine, evaluation = learnt("tictactoe")
    start = machine.initial_state()
    after = [start.play(f"(mark {place})").play("(mark a 2)") for place in ("b 2", "b 1")]
    middle, side = evaluation.values(machine.records(after))
    assert middle[0] > side[0]
    assert middle.sum() == pytest.approx(1.0)
    assert evaluation.explains > 0.03


def test_learns_a_value_for_each_role_where_results_do_not_add_up() -> None:
    machine, evaluation = learnt("prisonersdilemma")
    values = evaluation.values(machine.records([machine.initial_state()]))
    assert values.shape == (1, 2)
    assert ((values > 0) & (values < 1)).all()


def test_a_trial_tells_good_values_from_bad_ones() -> None:
    machine = machine_of("breakthrough")
    advanced = np.zeros(64 * machine.words)
    for bit, term in enumerate(machine.network.bases):
        arguments = [str(argument) for argument in term.args]
        advanced[bit] = arguments.count("white") - arguments.count("black")
    assert advanced.any()
    weights = np.stack([advanced, -advanced])
    found = []
    for sign in (1.0, -1.0):
        lanes = NetworkBatch(machine, machine)
        trial = Trial(lanes, Evaluation(tables_of(sign * weights), 0, 0.0), ByPlayouts(lanes, 1, 32, 500), 1)
        for _ in trial.play(math.inf):
            pass
        found.append(trial.ahead)
        assert trial.games >= 32
    assert found[0] > found[1]


def test_a_value_that_was_found_to_be_good_has_its_share_in_results_of_leaves() -> None:
    machine = machine_of("tictactoe")
    value = LearntValue(machine, 1, 0.25)
    records = machine.records([machine.initial_state()] * 2)
    rows = np.array([2, 0])
    results = np.full((3, 2), 0.5)
    value.mix(records, rows, results)
    assert (results == 0.5).all()
    weights = np.zeros((2, 64 * machine.words))
    weights[:, : len(machine.network.bases)] = [[5.0], [-5.0]]
    value._used = Evaluation(tables_of(weights), 0, 1.0)
    value.mix(records, rows, results)
    assert results[:, 0] == pytest.approx([0.625, 0.5, 0.625], abs=1e-2)
    assert results[:, 1] == pytest.approx([0.375, 0.5, 0.375], abs=1e-2)
    assert not value.learn(time.monotonic())


def test_a_search_with_a_value_makes_few_playouts_from_a_leaf_unless_told_otherwise() -> None:
    value = LearntValue(machine_of("tictactoe"), 1, 1.0)
    assert value.tuned(Tuning()) == Tuning()
    value._used = Evaluation(tables_of(np.zeros((2, 64))), 0, 1.0)
    assert 0 < value.tuned(Tuning()).per_leaf < 16
    assert value.tuned(Tuning(per_leaf=50)).per_leaf == 50


def test_warming_up_needs_no_game() -> None:
    warm_up()

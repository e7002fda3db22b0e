"""Values by kernels are those of plain numpy, mean the same in scrambled copies, and learning finds them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.features import Features
from players.knowledge.knowledge import KnowledgeError
from players.knowledge.self_play import Steps
from players.knowledge.state_values import SCALE, StateValues
from players.knowledge.training import Training, learn, returns
from propnet.kernels.records import pack, unpack
from tests.examples import examples
from tests.machines import network


def _logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-logits))


def own_features(bases: int) -> Features:
    """A feature of its own for each proposition."""
    names = ("1", *(f"p{base}" for base in range(bases)))
    return Features(names, np.arange(bases + 1, dtype=np.int32), np.arange(1, bases + 1, dtype=np.int32))


@examples(50)
@given(
    bases=st.integers(1, 300), columns=st.integers(1, 3), n=st.integers(0, 600), seed=st.integers(0, 2**32)
)
def test_values_are_those_of_plain_numpy(bases: int, columns: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.random((n, bases)) < rng.random()
    weights = rng.normal(size=(bases, columns)).astype(np.float32)
    constant = rng.normal(size=columns).astype(np.float32)
    values = StateValues(bases, columns, tuple(range(columns)))
    values.set_weights(own_features(bases), np.vstack([constant, weights]))
    found = values.of(pack(bits))
    whole = bits @ np.rint(weights * SCALE).astype(np.int64) + np.rint(constant * SCALE).astype(np.int64)
    assert np.allclose(found, _logistic(whole / SCALE), rtol=0, atol=1e-6)
    # Weights are rounded, each by half a unit at most.
    exact = _logistic(bits @ weights.astype(np.float64) + constant)
    assert np.allclose(found, exact, rtol=0, atol=1e-6 + (bases + 1) / SCALE / 8)


def test_values_of_great_weights_are_0_and_1() -> None:
    values = StateValues(2, 1, (0,))
    values.set_weights(own_features(2), np.array([[0.0], [1e9], [-1e9]], np.float32))
    found = values.of(np.array([[1], [2], [3]], np.uint64))[:, 0]
    assert np.allclose(found, [1.0, 0.0, 0.5], atol=1e-6)


def test_one_column_of_two_roles_is_worth_the_rest_to_the_other() -> None:
    values = StateValues(1, 2, (1,))
    values.set_weights(own_features(1), np.array([[0.0], [1.0]], np.float32))
    first, second = values.of(np.array([[1]], np.uint64))[0]
    assert second == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-6)
    assert first + second == pytest.approx(1.0)


@examples(30)
@given(seed=st.integers(0, 2**32), columns=st.integers(1, 2))
def test_a_step_of_learning_is_that_of_plain_numpy(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    bases, names = 70, 9
    owned = [rng.permutation(np.arange(1, names))[: rng.integers(0, 4)] for _ in range(bases)]
    start = np.cumsum([0, *map(len, owned)]).astype(np.int32)
    feature = np.concatenate([*owned, np.zeros(0)]).astype(np.int32)
    weights, sums = (rng.normal(size=(names, columns)).astype(np.float32) for _ in range(2))
    sizes = (np.abs(sums) + rng.random(sums.shape)).astype(np.float32)
    bits = rng.random((1, bases)) < 0.3
    target = rng.random((1, columns)).astype(np.float32)
    times = np.zeros(names)
    times[0] = 1
    for base in np.flatnonzero(bits[0]):
        np.add.at(times, owned[base], 1)
    error = target[0] - _logistic(times @ weights)
    step = 0.7 * np.outer(times, error) / (times @ times) * np.abs(sums) / sizes
    moved, summed, sized = weights.copy(), sums.copy(), sizes.copy()
    squares = learn(pack(bits), target, start, feature, moved, summed, sized, 0.7)
    assert squares == pytest.approx(float((error**2).sum()), rel=1e-4)
    assert np.allclose(moved, weights + step, atol=1e-5)
    seen = (times > 0)[:, None]
    assert np.allclose(summed, sums + error * seen, atol=1e-5)
    assert np.allclose(sized, sizes + np.abs(error) * seen, atol=1e-5)


def test_learning_finds_the_weights_that_made_the_targets() -> None:
    rng = np.random.default_rng(1)
    bits = rng.random((20_000, 12)) < 0.5
    true = rng.normal(size=(12, 1))
    targets = _logistic(bits @ true + 0.3).astype(np.float32)
    start, feature = np.arange(13, dtype=np.int32), np.arange(1, 13, dtype=np.int32)
    weights, sums, sizes = (np.zeros((13, 1), np.float32) for _ in range(3))
    for _ in range(10):
        learn(pack(bits), targets, start, feature, weights, sums, sizes, 1.0)
    assert np.allclose(weights[1:], true, atol=0.02)
    assert weights[0, 0] == pytest.approx(0.3, abs=0.05)


def test_features_say_what_a_shape_has_in_common() -> None:
    machine = network("tictactoe")
    names = canonical_names(machine.rules)
    features = Features.of(machine.network.bases, names)
    assert len(set(features.names)) == len(features.names) and features.names[0] == "1"
    weights = np.zeros((len(features.names), 1), np.float32)
    cell, x = names.new["cell"], names.new["x"]
    weights[features.names.index(f"({cell} * * {x})")] = 1.0
    summed = features.weights_of_bases(weights)[:, 0]
    marked = [str(base).startswith("(cell") and str(base).endswith(" x)") for base in machine.network.bases]
    assert summed.tolist() == [float(mark) for mark in marked] and sum(marked) == 9


def test_a_game_with_too_many_propositions_is_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = network("tictactoe")
    monkeypatch.setattr("players.knowledge.features.MOST_PROPOSITIONS", 5)
    with pytest.raises(KnowledgeError):
        Features.of(machine.network.bases, canonical_names(machine.rules))


def test_what_is_learnt_means_the_same_in_a_scrambled_copy() -> None:
    machine = network("connectfour")
    training = Training(machine, canonical_names(machine.rules), seed=2)
    for _ in range(3):
        training.round()
    known = training.knowledge("connectfour")
    copy, mapping = scramble(machine.rules, 5)
    other = network(copy)
    back = {new: old for old, new in mapping.items()}
    values = StateValues.of_game(known, canonical_names(copy), other)

    # States of the game, told in the names of the copy.
    steps = training._play.play(training.values, 20)
    records = steps.records.reshape(-1, machine.words)[::7]
    bits = unpack(records, len(machine.network.bases))
    place = {str(base): i for i, base in enumerate(machine.network.bases)}
    from gdl.terms import Term

    def old(term: Term) -> Term:
        return Term(back.get(term.name, term.name), *map(old, term.args))

    moved = np.array([place[str(old(base))] for base in other.network.bases])
    first, second = training.values.of(records), values.of(pack(bits[:, moved]))
    roles = [str(role) for role in machine.roles]
    order = [roles.index(str(old(role))) for role in other.roles]
    assert np.allclose(first[:, order], second, atol=1e-5)
    assert np.ptp(first[:, 0]) > 0.05


def test_training_goes_on_where_it_was_left() -> None:
    machine = network("tictactoe")
    names = canonical_names(machine.rules)
    first = Training(machine, names)
    first.round()
    known = first.knowledge("tictactoe")
    second = Training(machine, names, known)
    assert np.array_equal(second.weights, first.weights)
    second.round()
    assert second.progress.moves == 2 * first.progress.moves
    with pytest.raises(KnowledgeError):
        StateValues.of_game(replace(known, columns=("#999",)), names, machine)


def test_games_of_one_role_are_not_learnt() -> None:
    machine = network("lightsout")
    with pytest.raises(GdlError, match="several roles"):
        Training(machine, canonical_names(machine.rules))


def test_games_that_are_over_when_they_begin_are_not_learnt() -> None:
    over = """(role a) (role b) (init p) (legal a x) (legal b x) (next p) (<= terminal (true p))
        (goal a 0) (goal b 0)"""
    for text in (over, over.replace("(legal b x)", "").replace("(<= terminal (true p))", "")):
        machine = network(text)
        with pytest.raises(GdlError, match="initial state"):
            Training(machine, canonical_names(machine.rules))


@pytest.mark.parametrize("game", ["rockpaperscissors", "prisonersdilemma", "biddingtictactoe"])
def test_roles_that_move_at_the_same_time_are_learnt_for(game: str) -> None:
    machine = network(game)
    training = Training(machine, canonical_names(machine.rules))
    for _ in range(5):
        training.round()
    assert training.progress.finished > 0 and np.isfinite(training.weights).all()


def test_three_roles_have_a_column_each() -> None:
    rules = parse_rules(
        """(role a) (role b) (role c) (init (turn a)) (init (left 5))
        (then a b) (then b c) (then c a) (less 5 4) (less 4 3) (less 3 2) (less 2 1) (less 1 0)
        (<= (legal ?r take) (true (turn ?r))) (<= (legal ?r give) (true (turn ?r)))
        (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
        (<= (next (turn ?s)) (true (turn ?r)) (then ?r ?s))
        (<= (next (left ?m)) (true (left ?n)) (less ?n ?m))
        (<= (next (has ?r)) (does ?r take)) (<= (next (has ?r)) (true (has ?r)))
        (<= terminal (true (left 0)))
        (<= (goal ?r 100) (role ?r) (true (has ?r))) (<= (goal ?r 0) (role ?r) (not (true (has ?r))))""",
        "takers",
    )
    machine = network(rules)
    names = canonical_names(rules)
    training = Training(machine, names)
    for _ in range(10):
        training.round()
    known = training.knowledge("takers")
    assert len(known.columns) == 3
    values = StateValues.of_game(known, names, machine)
    start = values.of(machine.records([machine.initial_state()]))
    assert np.allclose(start, training.values.of(machine.records([machine.initial_state()])), atol=1e-5)
    assert (start > 0.5).all()


def test_what_is_sure_to_win_is_learnt() -> None:
    """Two roles take turns at choosing a door; behind one of them the first to come has won."""
    rules = parse_rules(
        """(role a) (role b) (init (turn a)) (init fresh)
        (<= (legal ?r (open ?d)) (true (turn ?r)) (door ?d))
        (<= (legal a wait) (true (turn b))) (<= (legal b wait) (true (turn a)))
        (door good) (door bad)
        (<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))
        (<= (next (rich ?r)) (does ?r (open good)))
        (<= (next (poor ?r)) (does ?r (open bad)))
        (<= terminal (true (rich ?r))) (<= terminal (true (poor ?r)))
        (<= (goal ?r 100) (true (rich ?r))) (<= (goal ?r 0) (true (poor ?r)))
        (<= (goal ?r 0) (role ?r) (true (rich ?q)) (distinct ?r ?q))
        (<= (goal ?r 100) (role ?r) (true (poor ?q)) (distinct ?r ?q))""",
        "doors",
    )
    machine = network(rules)
    training = Training(machine, canonical_names(rules))
    for _ in range(20):
        training.round()
    start = training.values.of(machine.records([machine.initial_state()]))[0]
    assert start[0] > 0.9 and start[1] < 0.1


def test_returns_end_at_random_moves_and_at_the_end_of_a_match() -> None:
    after = np.array([0.1, 0.2, 1.0, 0.4, 0.5], np.float32).reshape(5, 1, 1)
    ended = np.array([0, 0, 1, 0, 0], np.bool_).reshape(5, 1)
    random = np.array([0, 1, 0, 0, 0], np.bool_).reshape(5, 1)
    records = np.arange(5, dtype=np.uint64).reshape(5, 1, 1)
    told, targets = returns(Steps(records, after, ended, random, 5), 0.5)
    assert told[:, 0].tolist() == [0, 2, 3, 4]
    # After step 0 a random move follows: nothing but the value there counts.
    assert targets[:, 0].tolist() == pytest.approx([0.1, 1.0, 0.4 + 0.5 * (0.5 - 0.4), 0.5])

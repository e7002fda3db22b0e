"""Values and nets are those of plain numpy, mean the same in copies, and learning by self-play finds them."""

from __future__ import annotations

from collections import Counter
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
from players.knowledge.features import Features, sums_of_features
from players.knowledge.knowledge import MAGIC_NET, UNITS, WIDTH, GameKnowledge, KnowledgeError, LearntNet
from players.knowledge.net_training import (
    FRESH,
    NetTraining,
    ReplayBuffer,
    adam,
    gradients,
    spread_to_features,
)
from players.knowledge.self_play import OPENING, SelfPlay, Steps
from players.knowledge.state_values import SCALE, UNIT, StateValues
from players.knowledge.training import Training, learn, returns
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
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


# --- The net by kernels is that of plain numpy
def _features(bases: int, rng: np.random.Generator, names: int = 9) -> Features:
    owned = [rng.permutation(np.arange(1, names))[: rng.integers(0, 4)] for _ in range(bases)]
    start = np.cumsum([0, *map(len, owned)]).astype(np.int32)
    feature = np.concatenate([np.zeros(0), *owned]).astype(np.int32)
    return Features(tuple(map(str, range(names))), start, feature)


def _net(features: int, columns: int, rng: np.random.Generator) -> LearntNet:
    net = LearntNet.new(features, columns, rng)
    third = rng.normal(size=(columns, WIDTH)).astype(np.float32)
    return replace(net, first=(5 * net.first).astype(np.float32), third=third)


def _by_numpy(
    bits: NDArray[np.bool_], first: NDArray[np.float64], bias: NDArray[np.float64], net: LearntNet
) -> NDArray[np.float64]:
    units = np.clip(bits @ first + bias, 0.0, 1.0)
    hidden = np.maximum(units @ net.second.astype(np.float64) + net.second_bias, 0.0)
    return hidden @ net.third.T.astype(np.float64)


@examples(40)
@given(
    bases=st.integers(1, 200),
    columns=st.integers(1, 3),
    n=st.integers(0, 100),
    seed=st.integers(0, 2**32),
    larger=st.sampled_from([1, 100]),
)
def test_values_are_those_of_plain_numpy_whatever_the_states_before(
    bases: int, columns: int, n: int, seed: int, larger: int
) -> None:
    """With larger weights sums need more than 16 bits. Linear weights do not count beside a net."""
    rng = np.random.default_rng(seed)
    features = _features(bases, rng)
    net = _net(9, columns, rng)
    net = replace(net, first=(larger * net.first).astype(np.float32))
    values = StateValues(bases, columns, tuple(range(columns)))
    values.set_net(features, net)
    weights = rng.normal(size=(9, columns)).astype(np.float32)
    values.set_weights(features, weights)
    bits = rng.random((n, bases)) < rng.random()
    found = values.of(pack(bits))
    first = np.rint(features.weights_of_bases(net.first) / UNIT) * UNIT
    bias = np.rint(net.first[0] / UNIT) * UNIT
    assert np.allclose(found, _logistic(_by_numpy(bits, first, bias, net)), rtol=0, atol=1e-5)
    order = rng.permutation(n)
    assert np.array_equal(values.of(pack(bits[order])), found[order])


def test_a_new_net_says_nothing() -> None:
    rng = np.random.default_rng(0)
    values = StateValues(70, 2, (0,))
    values.set_net(_features(70, rng), LearntNet.new(9, 1, rng))
    assert np.allclose(values.of(pack(rng.random((9, 70)) < 0.5)), 0.5)


def test_gradients_are_those_of_finite_differences() -> None:
    rng = np.random.default_rng(1)
    bases, n = 70, 20
    bits = rng.random((n, bases)) < 0.4
    targets = rng.random((n, 1)).astype(np.float32)
    net = _net(9, 1, rng)
    by_base = rng.normal(0.0, 0.1, (bases + 1, UNITS)).astype(np.float32)
    weights = by_base, net.second, net.second_bias, net.third
    found = tuple(np.zeros_like(array) for array in weights)
    rows = np.arange(n)
    squares = gradients(pack(bits), targets, rows, *weights, *found)

    def values(parts: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
        changed = LearntNet(net.first, *parts[1:])  # type: ignore[arg-type]
        return _logistic(_by_numpy(bits, parts[0][:-1], parts[0][-1], changed))

    def loss(parts: tuple[NDArray[np.float64], ...]) -> float:
        value = values(parts)
        return float(-(targets * np.log(value) + (1 - targets) * np.log(1 - value)).sum())

    exact = tuple(array.astype(np.float64) for array in weights)
    assert squares == pytest.approx(float(((values(exact) - targets) ** 2).sum()), rel=1e-4)
    step = 1e-5
    for number, array in enumerate(exact):
        for _ in range(25):
            place = tuple(rng.integers(0, size) for size in array.shape)
            before = array[place]
            array[place] = before + step
            above = loss(exact)
            array[place] = before - step
            slope = (above - loss(exact)) / (2 * step)
            array[place] = before
            assert found[number][place] == pytest.approx(slope, abs=2e-3, rel=2e-3)


def test_gradients_of_features_are_those_of_their_propositions() -> None:
    rng = np.random.default_rng(2)
    features = _features(40, rng)
    has = np.zeros((41, 9))
    has[40, 0] = 1
    for base in range(40):
        of = features.feature[features.start[base] : features.start[base + 1]]
        has[base, of] = 1
    weights = rng.normal(size=(9, 5)).astype(np.float32)
    bases = np.empty((41, 5), np.float32)
    of_features = features.start, features.feature
    sums_of_features(*of_features, weights, bases)
    assert np.allclose(bases, has @ weights, atol=1e-5)
    by_base, by_feature = rng.normal(size=(41, 5)).astype(np.float32), np.empty((9, 5), np.float32)
    spread_to_features(*of_features, by_base, by_feature)
    assert np.allclose(by_feature, has.T @ by_base, atol=1e-5)


def test_a_step_of_adam_is_that_of_the_paper() -> None:
    rng = np.random.default_rng(3)
    weights, gradient = rng.normal(size=7).astype(np.float32), rng.normal(size=7).astype(np.float32)
    before, mean, square = weights.copy(), np.zeros(7, np.float32), np.zeros(7, np.float32)
    adam(weights, gradient, mean, square, 1, 0.01)
    # The first step of each weight is as long as the rate.
    assert np.allclose(weights, before - 0.01 * np.sign(gradient), atol=1e-5)


def test_what_linear_weights_cannot_say_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether two propositions are equal."""
    monkeypatch.setattr("players.knowledge.net_training._FIRST_RATE", 1e-2)
    rng = np.random.default_rng(4)
    features = Features(("1", "a", "b"), np.array([0, 1, 2], np.int32), np.array([1, 2], np.int32))
    bits = rng.random((4096, 2)) < 0.5
    targets = (bits[:, :1] == bits[:, 1:]).astype(np.float32)
    values, net = StateValues(2, 2, (0,)), LearntNet.new(3, 1, rng)
    training = NetTraining(features, values, net, ReplayBuffer(FRESH, 1, 1), rng)
    for _ in range(200):
        squares = training.learn(pack(bits), targets, 0.0)
    assert squares / 4096 < 0.1
    found = values.of(pack(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.bool_)))[:, 0]
    assert np.array_equal(found > 0.5, [True, False, False, True])


def _knowledge() -> GameKnowledge:
    rng = np.random.default_rng(5)
    arrays = rng.normal(size=(3, 3, 1)).astype(np.float32)
    return GameKnowledge(
        "0" * 64, "chess", ("#1",), ("1", "(#3 * #4)", "#5"), *arrays, net=LearntNet.new(3, 1, rng)
    )


def test_a_net_that_is_kept_comes_back_whole() -> None:
    known = _knowledge()
    back = GameKnowledge.from_bytes(known.to_bytes())
    assert back.model == "net" and back.net is not None and known.net is not None
    for one, other in zip(back.net.arrays(), known.net.arrays(), strict=True):
        assert np.array_equal(one, other)
    assert back.to_bytes() == known.to_bytes()


@pytest.mark.parametrize("damage", ["cut", "longer", "nan"])
def test_damaged_nets_are_refused(damage: str) -> None:
    import hashlib

    body = _knowledge().to_bytes()[:-32]
    assert body[:8] == MAGIC_NET
    if damage == "cut":
        body = body[:-4]
    elif damage == "longer":
        body += bytes(4)
    else:
        body = body[:-4] + np.array([np.nan], "<f4").tobytes()
    with pytest.raises(KnowledgeError, match="finite numbers" if damage == "nan" else "add up"):
        GameKnowledge.from_bytes(body + hashlib.sha256(body).digest())


# --- Self-play draws the moves of chance
GAMBLE = """
(role white) (role black) (role random)
(init (step white))
(<= (legal white safe) (true (step white)))
(<= (legal white risky) (true (step white)))
(<= (legal white noop) (not (true (step white))))
(legal black noop)
(<= (legal random (throw ?n)) (true (step random)) (number ?n))
(<= (legal random noop) (not (true (step random))))
(number 1) (number 2) (number 3)
(<= (next (share 50)) (does white safe))
(<= (next (step random)) (does white risky))
(<= (next (share 90)) (does random (throw 1)))
(<= (next (share 90)) (does random (throw 2)))
(<= (next (share 10)) (does random (throw 3)))
(<= terminal (true (share ?n)))
(<= (goal white ?n) (true (share ?n)))
(<= (goal black 50) (true (share 50)))
(<= (goal black 10) (true (share 90)))
(<= (goal black 90) (true (share 10)))
"""
"""White is sure of half, or has 90 in two cases of three."""
GUESS = """
(role random) (role white) (role black)
(init first)
(<= (legal random ?side) (true first) (side ?side))
(<= (legal white ?side) (true first) (side ?side))
(<= (legal black noop) (true first))
(side head) (side tail)
(<= (next right) (does random ?side) (does white ?side))
(<= (next over) (true first))
(<= terminal (true over))
(<= (goal white 100) (true right))
(<= (goal white 0) (not (true right)))
(<= (goal black 0) (true right))
(<= (goal black 100) (not (true right)))
"""
"""White guesses how a coin falls that is thrown at the same time. Chance is the first role."""
THREE = """
(role a) (role b) (role c) (role random)
(init (step random))
(<= (legal random ?r) (true (step random)) (player ?r))
(<= (legal ?r noop) (player ?r))
(player a) (player b) (player c)
(<= (next (won ?r)) (does random ?r))
(<= terminal (true (won ?r)))
(<= (goal ?r 100) (true (won ?r)))
(<= (goal ?r 0) (player ?r) (not (true (won ?r))))
"""
"""Three roles without a choice, one of which is drawn."""


def _trained(machine: PropnetMachine, model: str = "linear", rounds: int = 60) -> Training:
    training = Training(machine, canonical_names(machine.rules), None, 1)
    if model == "net":
        training.add_net()
    for number in range(rounds):
        training.round(number / rounds)
    return training


@pytest.mark.parametrize("model", ["linear", "net"])
def test_a_state_before_a_throw_is_worth_what_comes_of_it_on_average(model: str) -> None:
    machine = network(GAMBLE)
    training = _trained(machine, model, 100)
    assert training.columns == (0,)
    first = machine.initial_state()
    risky = next(m for m in machine.legal_moves(first, 0) if str(machine.move(0, m)) == "risky")
    thrown = machine.next_state(first, [risky, *(machine.legal_moves(first, r)[0] for r in (1, 2))])
    white, black, _ = training.values.of(machine.records([thrown]))[0]
    assert white == pytest.approx((90 + 90 + 10) / 300, abs=0.04)
    assert white + black == pytest.approx(1.0)
    # Whoever knows that takes the risk.
    assert training.values.of(machine.records([first]))[0, 0] == pytest.approx(0.633, abs=0.04)


def test_who_chooses_while_chance_throws_does_not_know_the_throw() -> None:
    machine = network(GUESS)
    training = _trained(machine)
    assert training.columns == (1,)
    assert training.values.of(machine.records([machine.initial_state()]))[0, 1] == pytest.approx(
        0.5, abs=0.05
    )
    assert training.progress.share == pytest.approx(0.5, abs=0.1)


def test_each_role_but_chance_has_values_where_more_than_two_play() -> None:
    machine = network(THREE)
    training = _trained(machine, rounds=30)
    assert training.columns == (0, 1, 2)
    known = training.knowledge("three")
    values = StateValues.of_game(known, canonical_names(machine.rules), machine)
    worth = values.of(machine.records([machine.initial_state()]))[0]
    assert worth[:3] == pytest.approx([1 / 3] * 3, abs=0.08) and worth[3] == 0.0


def test_throws_are_all_alike_and_tell_of_the_state_before_them() -> None:
    machine = network(GAMBLE)
    training = _trained(machine, rounds=1)
    play = SelfPlay(machine, (0,), 256, np.random.default_rng(3))
    steps = play.play(training.values, 60)
    throwing = machine.records([machine.initial_state()])[0]
    at_throw = (steps.records != throwing).any(axis=2)
    assert not steps.random[at_throw].any()
    assert steps.random[~at_throw].any() and OPENING > 0
    shares = Counter(np.rint(100 * steps.after[at_throw][:, 0]).astype(int).tolist())
    assert set(shares) == {10, 90}
    n, high = shares.total(), shares[90]
    assert n > 1000 and abs(high / n - 2 / 3) < 4 * (2 / 9 / n) ** 0.5

"""The net by kernels is that of plain numpy, its gradients are those of finite differences, and it learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from players.knowledge.features import Features
from players.knowledge.knowledge import HIDDEN, MAGIC_NET, WIDTH, GameKnowledge, KnowledgeError, LearntNet
from players.knowledge.net_training import NetTraining, adam, gradients, spread_to_features, sums_of_features
from players.knowledge.state_values import SCALE, UNIT, StateValues
from propnet.kernels.records import pack
from tests.examples import examples


def _features(bases: int, rng: np.random.Generator, names: int = 9) -> Features:
    owned = [rng.permutation(np.arange(1, names))[: rng.integers(0, 4)] for _ in range(bases)]
    start = np.cumsum([0, *map(len, owned)]).astype(np.int32)
    feature = np.concatenate([np.zeros(0), *owned]).astype(np.int32)
    return Features(tuple(map(str, range(names))), start, feature)


def _net(features: int, columns: int, rng: np.random.Generator) -> LearntNet:
    net = LearntNet.new(features, columns, rng)
    third = rng.normal(size=(columns, WIDTH)).astype(np.float32)
    return replace(net, first=(5 * net.first).astype(np.float32), third=third)


def _logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-logits))


def _by_numpy(
    bits: NDArray[np.bool_], first: NDArray[np.float64], bias: NDArray[np.float64], net: LearntNet
) -> NDArray[np.float64]:
    units = np.clip(bits @ first + bias, 0.0, 1.0)
    hidden = np.maximum(units @ net.second.astype(np.float64) + net.second_bias, 0.0)
    return hidden @ net.third.T.astype(np.float64)


@examples(40)
@given(
    bases=st.integers(1, 200), columns=st.integers(1, 3), n=st.integers(0, 100), seed=st.integers(0, 2**32)
)
def test_values_are_those_of_plain_numpy_whatever_the_states_before(
    bases: int, columns: int, n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    features = _features(bases, rng)
    net = _net(9, columns, rng)
    values = StateValues(bases, columns, tuple(range(columns)))
    values.set_net(features, net)
    weights = rng.normal(size=(9, columns)).astype(np.float32)
    weights[0] = 0.0
    values.set_weights(features, weights)
    bits = rng.random((n, bases)) < rng.random()
    found = values.of(pack(bits))
    first = np.rint(features.weights_of_bases(net.first) / UNIT) * UNIT
    bias = np.rint(net.first[0] / UNIT) * UNIT
    linear = bits @ np.rint(features.weights_of_bases(weights) * SCALE).astype(np.int64) / SCALE
    assert np.allclose(found, _logistic(linear + _by_numpy(bits, first, bias, net)), rtol=0, atol=1e-5)
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
    by_base = rng.normal(0.0, 0.1, (bases + 1, HIDDEN + 1)).astype(np.float32)
    weights = by_base, net.second, net.second_bias, net.third
    found = tuple(np.zeros_like(array) for array in weights)
    rows = np.arange(n)
    squares = gradients(pack(bits), targets, rows, *weights, *found)

    def values(parts: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
        changed = LearntNet(net.first, *parts[1:])  # type: ignore[arg-type]
        logits = _by_numpy(bits, parts[0][:-1, :HIDDEN], parts[0][-1, :HIDDEN], changed)
        return _logistic(logits + bits @ parts[0][:-1, HIDDEN:] + parts[0][-1, HIDDEN:])

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
    values, linear = StateValues(2, 2, (0,)), np.zeros((3, 1), np.float32)
    training = NetTraining(features, values, LearntNet.new(3, 1, rng), linear, 1, rng)
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

"""`NetTraining`: a net learns the values of states, from the last ones in random order (experience replay:
L. Lin, 1992).

The kernels compute gradients, and Adam's steps (D. Kingma and J. Ba, 2015).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from players.knowledge.features import Features, sums_of_features
from players.knowledge.knowledge import WIDTH, Floats, LearntNet
from players.knowledge.state_values import StateValues
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import lowest_bit

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8
_FAST: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}
}  # fmt: skip


@kernel(**_FAST)
def gradients(
    records: Words,
    targets: Floats,
    rows: NDArray[np.int64],
    bases: Floats,
    second: Floats,
    second_bias: Floats,
    third: Floats,
    by_base: Floats,
    by_second: Floats,
    by_second_bias: Floats,
    by_third: Floats,
) -> float:
    """Add the gradients of the cross entropy of values and targets, 0..1, over some rows of ``records``,
    uint64, shape (n, words), and ``targets``, float32, shape (n, columns). Returns the sum of the squared
    errors.

    ``bases``: float32, shape (bases + 1, units): each proposition's addition to the first layer; the last row
    is for all states. ``second`` and so on: :class:`players.knowledge.knowledge.LearntNet`. ``by_...``: the
    gradients, of these shapes. All inner loops are over the units, so that they use vectors."""
    columns, size, last = targets.shape[1], second.shape[0], bases.shape[0] - 1
    across, by_across = np.empty((WIDTH, size), np.float32), np.zeros((WIDTH, size), np.float32)
    for j in range(WIDTH):
        for k in range(size):
            across[j, k] = second[k, j]
    active = np.empty(64 * records.shape[1], np.int64)
    sums, units = np.empty(size, np.float32), np.empty(size, np.float32)
    errors = np.empty(size, np.float32)
    outputs, back = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    zero, one = np.float32(0.0), np.float32(1.0)
    squares = 0.0
    for row in rows:
        count = 0
        for word in range(records.shape[1]):
            bits = records[row, word]
            while bits:
                active[count] = 64 * word + np.int64(lowest_bit(bits))
                count += 1
                bits &= bits - np.uint64(1)
        for k in range(size):
            sums[k] = bases[last, k]
        for i in range(count):
            base = active[i]
            for k in range(size):
                sums[k] += bases[base, k]
        for k in range(size):
            units[k] = min(max(sums[k], zero), one)
        for j in range(WIDTH):
            total = second_bias[j]
            for k in range(size):
                total += units[k] * across[j, k]
            outputs[j] = max(total, zero)
            back[j] = zero
        for column in range(columns):
            logit = zero
            for j in range(WIDTH):
                logit += outputs[j] * third[column, j]
            error = np.float32(1.0 / (1.0 + math.exp(-logit))) - targets[row, column]
            squares += error * error
            for j in range(WIDTH):
                by_third[column, j] += error * outputs[j]
                back[j] += error * third[column, j]
        errors[:] = zero
        for j in range(WIDTH):
            if outputs[j] > zero:
                error = back[j]
                by_second_bias[j] += error
                for k in range(size):
                    errors[k] += error * across[j, k]
                    by_across[j, k] += error * units[k]
        for k in range(size):
            errors[k] = errors[k] if zero < sums[k] < one else zero
            by_base[last, k] += errors[k]
        for i in range(count):
            base = active[i]
            for k in range(size):
                by_base[base, k] += errors[k]
    for j in range(WIDTH):
        for k in range(size):
            by_second[k, j] += by_across[j, k]
    return squares


@kernel(**_FAST)
def spread_to_features(start: Int32s, feature: Int32s, by_base: Floats, by_feature: Floats) -> None:
    """The reverse, for gradients: fill in those of features from those of propositions, shapes as above."""
    width = by_feature.shape[1]
    last = by_base.shape[0] - 1
    by_feature[:] = np.float32(0.0)
    for j in range(width):
        by_feature[0, j] = by_base[last, j]
    for base in range(last):
        for entry in range(start[base], start[base + 1]):
            number = feature[entry]
            for j in range(width):
                by_feature[number, j] += by_base[base, j]


@kernel(**_FAST)
def adam(weights: Floats, gradient: Floats, mean: Floats, square: Floats, step: int, rate: float) -> None:
    """One step of weights, all float32 of shape (n,), number ``step`` from 1 on; updates the running ``mean``
    and ``square`` of gradients."""
    scale = rate * math.sqrt(1.0 - _BETA2**step) / (1.0 - _BETA1**step)
    one, keep1, keep2 = np.float32(1.0), np.float32(_BETA1), np.float32(_BETA2)
    for i in range(weights.size):
        mean[i] = keep1 * mean[i] + (one - keep1) * gradient[i]
        square[i] = keep2 * square[i] + (one - keep2) * gradient[i] * gradient[i]
        weights[i] -= np.float32(scale) * mean[i] / (np.float32(math.sqrt(square[i])) + np.float32(_EPSILON))


BATCH = 1024
"""States in one step."""
_DECAY = 0.05
"""Part of its size, times the rate, that a weight loses in each step, so that the net does not learn a few
matches by heart (I. Loshchilov and F. Hutter: Decoupled weight decay regularization, 2019)."""


_FIRST_RATE, _LAST_RATE = 1e-3, 1e-4


class Kept(NamedTuple):
    """The states that a net learns from: the last ``states``, each about ``times`` times."""

    states: int
    times: int


FRESH, LASTING = Kept(200_000, 1), Kept(1 << 21, 4)
"""Targets by the values themselves are soon out of date; those of searches last longer, and cost more. After
three minutes of backgammon in which each state is learnt from once, a turn loses a fifth less than after
three in which each is learnt from four times, in two thirds as many matches (one training of each)."""
_MEMORY = 1 << 28
"""Most bytes for these states."""


class ReplayBuffer:
    """The last states that were played, and their targets.

    Attributes:
        records: uint64, shape (room, words), and ``targets``, float32, shape (room, columns), 0..1; the
            first ``held`` of them are filled in.
        times: how often each is to be learnt from.
    """

    def __init__(self, kept: Kept, words: int, columns: int) -> None:
        """There is room for ``kept.states`` states of this many words, or fewer if that takes too much
        memory."""
        self.times = kept.times
        most = min(kept.states, _MEMORY // (8 * words + 4 * columns))
        self._end = 0
        self.records = np.empty((most, words), np.uint64)
        self.targets = np.empty((most, columns), np.float32)
        self.held = 0

    def add(self, records: NDArray[np.uint64], targets: NDArray[np.float32]) -> None:
        """Add states, uint64, shape (n, words), with targets, float32, shape (n, columns), in place of the
        earliest ones."""
        most, count = len(self.records), len(records)
        places = (self._end + np.arange(count)) % most
        self.records[places], self.targets[places] = records, targets
        self._end = (self._end + count) % most
        self.held = min(most, self.held + count)


class NetTraining:
    """Learns the net of some values."""

    def __init__(
        self,
        features: Features,
        values: StateValues,
        net: LearntNet,
        replay: ReplayBuffer,
        rng: np.random.Generator,
    ) -> None:
        """Goes on from this ``net``, by the states that ``replay`` holds and those to come. ``values`` always
        follow the net."""
        self.replay = replay
        self._features, self._values, self._rng = features, values, rng
        self._layers = tuple(np.array(array) for array in net.arrays())
        self._bases = np.zeros((features.bases + 1, net.units), np.float32)
        self._learnt = tuple(array.reshape(-1) for array in self._layers)
        self._by_feature = np.zeros_like(self._layers[0])
        self._by = np.zeros_like(self._bases), *(np.zeros_like(array) for array in self._layers[1:])
        self._gradients = tuple(array.reshape(-1) for array in (self._by_feature, *self._by[1:]))
        self._means = tuple(np.zeros_like(array) for array in self._learnt)
        self._squares = tuple(np.zeros_like(array) for array in self._learnt)
        self._steps = 0
        values.set_net(features, self.net)

    def catch_up(self) -> None:
        """Learn from the states that were played before there was a net."""
        self._learn(self.replay.held, _FIRST_RATE)

    def learn(self, records: NDArray[np.uint64], targets: NDArray[np.float32], gone: float) -> float:
        """Learn from states, uint64, shape (n, words), with ``targets``, 0..1, float32, shape (n, columns),
        and from earlier ones. ``gone``: the elapsed share of the time, 0..1: towards its end steps become
        smaller. Returns the sum of the squared errors."""
        self.replay.add(records, targets)
        return self._learn(len(records), _FIRST_RATE * (_LAST_RATE / _FIRST_RATE) ** min(1.0, gone))

    def _learn(self, count: int, rate: float) -> float:
        """Learn as often as from ``count`` new states. Returns the sum of their squared errors."""
        rows = self._rng.integers(0, max(1, self.replay.held), self.replay.times * count)
        squares = sum(self._step(rows[begin : begin + BATCH], rate) for begin in range(0, len(rows), BATCH))
        self._values.set_net(self._features, self.net)
        return squares / self.replay.times

    def _step(self, rows: NDArray[np.int64], rate: float) -> float:
        """Learn from these rows of the remembered states. Returns the sum of the squared errors."""
        of = self._features.start, self._features.feature
        first, second, bias, third = self._layers
        sums_of_features(*of, first, self._bases)
        for array in self._by:
            array[...] = 0.0
        net = self._bases, second, bias, third
        squares = float(gradients(self.replay.records, self.replay.targets, rows, *net, *self._by))
        spread_to_features(*of, self._by[0], self._by_feature)
        self._steps += 1
        for arrays in zip(self._learnt, self._gradients, self._means, self._squares, strict=True):
            arrays[1][...] /= len(rows)
            adam(*arrays, self._steps, rate)
        for array in (first, second, third):
            array *= np.float32(1.0 - _DECAY * rate)
        return squares

    @property
    def net(self) -> LearntNet:
        """A copy of the learnt net."""
        return LearntNet(*(array.copy() for array in self._layers))

"""`NetLearner`: the weights of a small net on top of linear ones, by gradient descent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.knowledge.features import Features
from players.knowledge.learnt_net import HIDDEN, Floats, LearntNet
from players.knowledge.net.gradients import adam, gradients, spread_to_features, sums_of_features

BATCH = 1024
"""States of a step."""
DECAY = 0.6
"""What part of its size, times the rate, a weight loses in each step: what a few matches alone show is not
learnt by heart (I. Loshchilov and F. Hutter: Decoupled weight decay regularization, 2019)."""


class NetLearner:
    """Learns what a net adds to linear weights, which are learnt elsewhere.

    Attributes:
        net: what is learnt, as it is now.
    """

    def __init__(
        self,
        features: Features,
        bits: int,
        net: LearntNet,
        scale: Floats,
    ) -> None:
        """Goes on from this net over the features of so many ``bits``. ``scale``, float32, shape (features,
        1), is that by which they are learnt (:meth:`players.knowledge.features.Features.scale`)."""
        columns = len(net.third)
        self._features = features
        # The last columns are for the linear weights.
        self._weights = np.zeros((len(features.names), HIDDEN + columns), np.float32)
        self._scale = scale
        self._weights[:, :HIDDEN] = net.first / scale
        self._second, self._bias, self._third = (np.array(array) for array in net.arrays()[1:])
        self._bases = np.zeros((bits + 1, HIDDEN + columns), np.float32)
        learnt = self._weights, self._second, self._bias, self._third
        self._learnt = tuple(array.reshape(-1) for array in learnt)
        self._by_feature = np.zeros_like(self._weights)
        self._by = np.zeros_like(self._bases), *(np.zeros_like(array) for array in learnt[1:])
        self._gradients = tuple(array.reshape(-1) for array in (self._by_feature, *self._by[1:]))
        self._means = tuple(np.zeros_like(array) for array in self._learnt)
        self._squares = tuple(np.zeros_like(array) for array in self._learnt)
        self._steps = 0

    @property
    def net(self) -> LearntNet:
        copies = (array.copy() for array in (self._second, self._bias, self._third))
        return LearntNet(self._weights[:, :HIDDEN] * self._scale, *copies)

    def learn(
        self,
        records: NDArray[np.uint64],
        targets: Floats,
        rows: NDArray[np.int64],
        linear: Floats,
        rate: float,
    ) -> float:
        """Learn from some rows of states, uint64, shape (n, words), and what they are worth, float32, shape
        (n, columns), BATCH of them a step, with these linear weights, float32, shape (features, columns).
        Returns the sum of the squared errors."""
        squares = 0.0
        self._weights[:, HIDDEN:] = linear / self._scale
        of = self._features.start, self._features.feature, self._scale[:, 0]
        for begin in range(0, len(rows), BATCH):
            part = rows[begin : begin + BATCH]
            sums_of_features(*of, self._weights, self._bases)
            for array in self._by:
                array[...] = 0.0
            squares += gradients(
                records, targets, part, self._bases, self._second, self._bias, self._third, *self._by,
            )  # fmt: skip
            spread_to_features(*of, self._by[0], self._by_feature)
            self._by_feature[:, HIDDEN:] = 0.0
            self._steps += 1
            for arrays in zip(self._learnt, self._gradients, self._means, self._squares, strict=True):
                arrays[1][...] /= len(part)
                adam(*arrays, self._steps, rate)
            for array in (self._weights[:, :HIDDEN], self._second, self._third):
                array *= np.float32(1.0 - DECAY * rate)
        return squares

"""`NetLayers`: a small net as kernels take it, for one machine's states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.knowledge.features import Features
from players.knowledge.learnt_net import HIDDEN, WIDTH, LearntNet
from players.knowledge.net.kernels import UNIT, add_net
from propnet.kernels.records import record_words

_MOST = 32_767


class NetLayers:
    """The layers of a net over a game's base propositions.

    Attributes:
        first, first_bias, second, second_bias, third: as :func:`players.knowledge.net.kernels.add_net` takes
            them.
    """

    def __init__(self, bases: int, columns: int) -> None:
        """A net that says nothing."""
        self.first = np.zeros((64 * record_words(bases), HIDDEN), np.int16)
        self.first_bias = np.zeros(HIDDEN, np.int32)
        self.second = np.zeros((HIDDEN, WIDTH), np.float32)
        self.second_bias = np.zeros(WIDTH, np.float32)
        self.third = np.zeros((columns, WIDTH), np.float32)

    def set_weights(self, features: Features, net: LearntNet) -> None:
        """Take the weights of a net over these features."""
        summed = features.weights_of_bases(net.first)
        self.first[: len(summed)] = np.clip(np.rint(summed / UNIT), -_MOST, _MOST)
        self.first_bias = np.clip(np.rint(net.first[0] / UNIT), -(2**30), 2**30).astype(np.int32)
        self.second = np.ascontiguousarray(net.second)
        self.second_bias = np.ascontiguousarray(net.second_bias)
        self.third = np.ascontiguousarray(net.third)

    def add(self, records: NDArray[np.uint64], values: NDArray[np.float32]) -> None:
        """Add to the logits of states, float32, shape (columns, n), and make values of 0..1 of them."""
        layers = self.first, self.first_bias, self.second, self.second_bias, self.third
        add_net(records, *layers, values)

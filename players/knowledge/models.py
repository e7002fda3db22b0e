"""Tables over n-tuples and small nets, which add to what linear weights say: as kernels take them for one
machine's states, and how they learn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.features import DERIVED, Features
from players.knowledge.knowledge import HIDDEN, WIDTH, Floats, KnowledgeError, LearntNet
from players.knowledge.n_tuples import NTuples
from players.knowledge.net_kernels import UNIT, adam, add_net, gradients, spread_to_features, sums_of_features
from players.knowledge.value_kernels import MOST_WEIGHT, SCALE, add_tuples, learn_tuples
from propnet.kernels.records import record_words


class TupleTables:
    """Tables of a game.

    Attributes:
        tuples: what they are over.
        table: int32, shape (columns, entries of tuples), in units of 1 / SCALE logits.
    """

    def __init__(
        self,
        tuples: NTuples,
        bases: tuple[Term, ...],
        names: CanonicalNames,
        columns: int,
        derived: DerivedPropositions | None = None,
    ) -> None:
        """All 0. With ``derived`` propositions records are long ones. Raises KnowledgeError where the game
        has other propositions."""
        place = {names.key(term): base for base, term in enumerate(bases)}
        bits = len(bases)
        if derived is not None:
            bits = len(derived.propositions)
            place |= {DERIVED + names.key(term): bit for bit, term in enumerate(derived.terms, derived.first)}
        if not set(tuples.names) <= set(place):
            raise KnowledgeError("it is knowledge of other propositions", remedy="train the game again")
        self.tuples = tuples
        self._base = np.array([place[name] for name in tuples.names], np.int32)
        self._variable_of = np.full(bits + 64, -1, np.int32)
        self._code_of = np.zeros(bits + 64, np.int32)
        self._variable_of[self._base], self._code_of[self._base] = tuples.variable, tuples.code
        self.table = np.zeros((columns, int(tuples.offset[-1])), np.int32)

    def set_weights(self, weights: NDArray[np.float32]) -> None:
        """Take other weights, float32, shape (entries of tuples and of shapes, columns)."""
        own = int(self.tuples.offset[-1])
        summed = weights[:own] + weights[self.tuples.shared]
        # So many of them are added in 32 bits.
        most = min(MOST_WEIGHT, (2**31 - 1) / SCALE / len(self.tuples.shape))
        self.table = np.ascontiguousarray(np.rint(np.clip(summed, -most, most) * SCALE).T, np.int32)

    def add(self, records: NDArray[np.uint64], values: NDArray[np.float32]) -> None:
        """Add to the logits of states, float32, shape (columns, n), and make values of 0..1 of them."""
        tuples = self.tuples
        add_tuples(
            records, self._base, tuples.variable, tuples.code, len(tuples.radix), tuples.start,
            tuples.member, tuples.stride, tuples.offset, self.table, 1.0 / SCALE, values,
        )  # fmt: skip

    def learn(
        self,
        records: NDArray[np.uint64],
        targets: NDArray[np.float32],
        features: Features,
        weights: tuple[NDArray[np.float32], ...],
        rate: float,
    ) -> float:
        """Move weights, then sums and sizes, of linear features and of entries: see
        :func:`players.knowledge.value_kernels.learn_tuples`."""
        tuples = self.tuples
        # Bits past those of the features have none.
        start = np.pad(features.start, (0, max(0, len(self._code_of) - features.bits)), "edge")
        squares: float = learn_tuples(
            records, targets, start, features.feature, len(features.names), self._variable_of,
            self._code_of, len(tuples.radix), tuples.start, tuples.member, tuples.stride, tuples.offset,
            tuples.shared, *weights, rate,
        )  # fmt: skip
        return squares


_MOST = 32_767


class NetLayers:
    """The layers of a net over a game's base propositions.

    Attributes:
        first, first_bias, second, second_bias, third: as :func:`players.knowledge.net_kernels.add_net` takes
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

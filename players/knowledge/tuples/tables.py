"""`TupleTables`: tables over n-tuples as kernels take them, for one machine's states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import DerivedPropositions
from players.knowledge.features import DERIVED, Features
from players.knowledge.knowledge import KnowledgeError
from players.knowledge.n_tuples import NTuples
from players.knowledge.tuples.kernels import add_tuples, learn_tuples
from players.knowledge.value_kernels import MOST_WEIGHT, SCALE


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
        :func:`players.knowledge.tuples.kernels.learn_tuples`."""
        tuples = self.tuples
        # Bits past those of the features have none.
        start = np.pad(features.start, (0, max(0, len(self._code_of) - features.bits)), "edge")
        squares: float = learn_tuples(
            records, targets, start, features.feature, len(features.names), self._variable_of,
            self._code_of, len(tuples.radix), tuples.start, tuples.member, tuples.stride, tuples.offset,
            tuples.shared, *weights, rate,
        )  # fmt: skip
        return squares

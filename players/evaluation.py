"""A value of states that is linear in their propositions: logistic, one weight per proposition and role."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.evaluation_kernel import add_up

_OCTETS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
BITS: NDArray[np.float32] = _OCTETS.astype(np.float32)
"""(256, 8): the bits of each octet, the lowest first."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What states are worth to each role.

    Attributes:
        tables: float32, shape (roles, octets, 256); see :mod:`players.evaluation_kernel`.
        positions: how many it was learnt from.
        explains: which part of the variance of results it foretells, in games it was not learnt from;
            at most 1, below 0 where the mean result foretells them better.
    """

    tables: NDArray[np.float32]
    positions: int
    explains: float

    def values(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The results, 0..1, to be expected from states with these records (n, words): shape (n, roles)."""
        sums = np.empty((len(records), len(self.tables)), np.float32)
        add_up(self.tables, np.ascontiguousarray(records), sums)
        return chances(sums)

    def __str__(self) -> str:
        return f"value learnt from {self.positions:,} positions, explains {self.explains:.0%}"


def chances(sums: NDArray[np.float32]) -> NDArray[np.float64]:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-np.clip(sums, -30.0, 30.0).astype(np.float64)))


def tables_of(weights: NDArray[np.float64]) -> NDArray[np.float32]:
    """Tables (roles, octets, 256) of weights (roles, bits); the bits are whole octets."""
    octets = weights.reshape(len(weights), -1, 8)
    return np.ascontiguousarray(octets @ BITS.T, np.float32)

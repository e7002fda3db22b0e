"""Latches: base propositions that, once true (or once false), stay so; proven by ternary simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.ternary import CASES_PER_WORD, Ternary, constant_bases

EFFORT = 10_000_000
"""Gate inputs, each for 512 propositions (see docs/measurements.md)."""

_WORDS = 8


@dataclass(frozen=True, slots=True)
class Latches:
    """Which base propositions never change back, each bool, shape (bases,): those once ``true``, or once
    ``false``, are so for ever; ``constant`` ones never change at all and are in neither of the others."""

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    constant: NDArray[np.bool_]


def latches(ternary: Ternary, effort: int = EFFORT) -> Latches:
    """The latches that one step shows: with one base proposition known and nothing else, it is the same
    after every joint legal move. If the effort, in gate inputs, is too small, some latches are missed."""
    network = ternary.network
    bases = len(network.bases)
    constant = constant_bases(network)
    holds = np.zeros((2, bases), np.bool_)
    open_ = np.flatnonzero(~constant)
    cases = _WORDS * CASES_PER_WORD
    for value in (0, 1):
        for start in range(0, len(open_), cases):
            effort -= len(network.gate_inputs)
            if effort < 0:
                break
            propositions = open_[start : start + cases]
            case = np.arange(len(propositions))
            word, bit = case // CASES_PER_WORD, np.uint64(1) << (case % CASES_PER_WORD).astype(np.uint64)
            rows = ternary.unknown(_WORDS)
            # Where it is false it may not be true (row 2b), and the other way round.
            rows[2 * propositions + value, word] &= ~bit
            after = ternary.step(rows).following
            holds[value, propositions] = after[2 * propositions + value, word] & bit == 0
    return Latches(holds[1], holds[0], constant)

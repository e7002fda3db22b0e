"""Random numbers for compiled loops: splitmix64 (Steele, Lea and Flood 2014)."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Words
from propnet.jit.decorators import inner

STEP = 0x9E3779B97F4A7C15


@inner
def next_random(state: Words) -> np.uint64:
    """The next of the 64-bit numbers that follow from ``state``, uint64 of shape (1,)."""
    state[0] += np.uint64(STEP)
    return scramble(state[0])


@inner
def scramble(z: np.uint64) -> np.uint64:
    """The random number of a state."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))

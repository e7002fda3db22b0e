"""Random numbers for compiled loops: splitmix64 (Steele, Lea and Flood 2014), and xoshiro256++ (Blackman and
Vigna 2019), eight independent streams per vector.

The streams' state is a (4, 8) uint64 array: row k holds word k of all eight states. splitmix64 seeds it, as
the authors of xoshiro advise.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Vector, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import aligned, rotate_left, shift_left

STEP = 0x9E3779B97F4A7C15


@inner
def next_random(state: Words) -> np.uint64:
    """The next 64-bit number of the sequence with ``state``, uint64 of shape (1,)."""
    state[0] += np.uint64(STEP)
    return scramble(state[0])


@inner
def scramble(z: np.uint64) -> np.uint64:
    """The random number of a state."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


_MASK = (1 << 64) - 1


def streams(seed: int) -> Words:
    """The state of eight streams, shape (4, 8); it depends only on ``seed`` modulo 2**64."""
    state = aligned(4)
    _fill(state, np.uint64(seed & _MASK))
    return state


@kernel
def _fill(state: Words, seed: np.uint64) -> None:
    """Write splitmix64's first 32 words, stream after stream."""
    for word in range(state.shape[1]):
        for k in range(4):
            seed += np.uint64(STEP)
            state[k, word] = scramble(seed)


@inner
def advance(s0: Vector, s1: Vector, s2: Vector, s3: Vector) -> tuple[Vector, Vector, Vector, Vector, Vector]:
    """512 random bits and the four words of the next state: ``(bits, s0, s1, s2, s3)``."""
    bits = rotate_left(s0 + s3, 23) + s0
    t = shift_left(s1, 17)
    s2 = s2 ^ s0
    s3 = s3 ^ s1
    s1 = s1 ^ s2
    s0 = s0 ^ s3
    s2 = s2 ^ t
    return bits, s0, s1, s2, rotate_left(s3, 45)

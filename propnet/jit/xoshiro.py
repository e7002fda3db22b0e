"""xoshiro256++ (Blackman and Vigna 2019), eight independent streams per vector.

The streams' state is a (4, 8) uint64 array: row k holds word k of all eight states. splitmix64
(Steele, Lea and Flood 2014) seeds it, as the authors of xoshiro advise.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Vector, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.splitmix import STEP, scramble
from propnet.jit.vector512 import aligned, rotate_left, shift_left

_MASK = (1 << 64) - 1


def streams(seed: int) -> Words:
    """The state of eight streams, shape (4, 8); a function of ``seed`` modulo 2**64 alone."""
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

"""Uniformly random legal moves for many matches, from rows of legal moves: rank and select in words.

The rank below the number of a role's legal moves comes from 32 random bits by multiplication (Lemire 2019),
with rejection, so that all are equally likely.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.random_numbers import next_random
from propnet.jit.vector512 import count_bits, item, lowest_bit, put, raw


@kernel(nogil=True)
def random_moves(masks: Words, starts: Ints, state: Words, moves: Int32s) -> None:
    """Fill in a legal move id for each role of each match, int32 (n, roles); -1 where a role has none.

    ``masks`` (n, mask words) are legal moves, role r's from word ``starts[r]`` on; ``state`` (1,) is that of
    splitmix64."""
    rows, chosen, bounds = raw(masks), raw(moves), raw(starts)
    words = np.int64(masks.shape[1])
    roles = np.int64(moves.shape[1])
    for row in range(moves.shape[0]):
        at = row * words
        for role in range(roles):
            low, high = item(bounds, role), item(bounds, role + 1)
            count = np.int64(0)
            for word in range(at + low, at + high):
                count += count_bits(item(rows, word))
            rank = np.int64(0)
            if count > 1:
                rank = _below(count, state)
            move = np.int64(-1)
            if count > 0:
                word = at + low
                left = item(rows, word)
                here = count_bits(left)
                while here <= rank:
                    rank -= here
                    word += 1
                    left = item(rows, word)
                    here = count_bits(left)
                for _ in range(rank):
                    left &= left - np.uint64(1)
                move = 64 * (word - at - low) + lowest_bit(left)
            put(chosen, row * roles + role, move)


@inner
def _below(count: Index, state: Words) -> np.int64:
    """A random number from 0 to ``count`` - 1, for counts below 2**32."""
    wide = np.uint64(count)
    low_half = np.uint64(0xFFFFFFFF)
    product = (next_random(state) >> np.uint64(32)) * wide
    if (product & low_half) < wide:
        threshold = (np.uint64(1) << np.uint64(32)) % wide
        while (product & low_half) < threshold:
            product = (next_random(state) >> np.uint64(32)) * wide
    return np.int64(product >> np.uint64(32))

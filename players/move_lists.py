"""Legal moves as lists, from the packed bits of a machine with lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner, kernel


@inner
def _ones(word: Any) -> Any:
    """The number of set bits."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel(nogil=True)
def unpack_moves(legal: NDArray[np.uint64], offsets: NDArray[np.int32]) -> Any:
    """Legal moves as lists: counts, int32, shape (n, roles), and move ids, int32, row by row, role by role.

    Bit m of a row of ``legal``, shape (n, move words), says that move m of all roles is legal; role r's moves
    are ``offsets[r] .. offsets[r + 1]``.
    """
    roles = len(offsets) - 1
    total = 0
    for row in range(legal.shape[0]):
        for word in legal[row]:
            total += _ones(word)
    counts = np.zeros((legal.shape[0], roles), np.int32)
    moves = np.empty(total, np.int32)
    at = 0
    for row in range(legal.shape[0]):
        role = 0
        for w in range(legal.shape[1]):
            word = legal[row, w]
            while word:
                low = word & (~word + np.uint64(1))
                word ^= low
                move = w * 64 + _ones(low - np.uint64(1))
                while move >= offsets[role + 1]:
                    role += 1
                counts[row, role] += 1
                moves[at] = move - offsets[role]
                at += 1
    return counts, moves


def draw_moves(
    counts: NDArray[np.int32], moves: NDArray[np.int32], rng: np.random.Generator
) -> NDArray[np.int32]:
    """A random move of each role in each state, int32, shape (n, roles), from the lists that
    :func:`unpack_moves` returns; 0 if a role has none."""
    several = counts.ravel()
    place = np.cumsum(several) - several + (rng.random(len(several)) * several).astype(np.int64)
    drawn = np.zeros(len(several), np.int32)
    there = several > 0
    drawn[there] = moves[place[there]]
    return drawn.reshape(counts.shape)

"""Kernels: the images of states under symmetries of their game."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.symmetries.game_symmetries import GameSymmetries
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import lowest_bit

Singles = NDArray[np.float32]


@kernel(nogil=True)
def images_of(records: Words, images: Int32s, chosen: Int32s, out: Words) -> None:
    """Fill in, for each state, its image under one element: ``records`` and ``out`` uint64, shape (n, words);
    ``images`` as in :class:`players.symmetries.game_symmetries.GameSymmetries`, ``chosen`` int32, shape (n,).
    """
    one = np.uint64(1)
    for row in range(records.shape[0]):
        element = chosen[row]
        for word in range(records.shape[1]):
            out[row, word] = np.uint64(0)
        for word in range(records.shape[1]):
            bits = records[row, word]
            while bits:
                to = np.int64(images[element, 64 * word + np.int64(lowest_bit(bits))])
                out[row, to >> 6] |= one << np.uint64(to & 63)
                bits &= bits - one


def random_images(
    symmetries: GameSymmetries, records: Words, values: Singles, rng: np.random.Generator
) -> tuple[Words, Singles]:
    """Random images of states, uint64, shape (n, words), and what these are worth, if the states are worth
    ``values``, 0..1, float32, shape (n, columns): a column for each of two roles, or one for role 0, where
    role 1 has what role 0 has not."""
    if len(symmetries) == 1:
        return records, values
    chosen = rng.integers(0, len(symmetries), len(records)).astype(np.int32)
    found = np.empty_like(records)
    images_of(np.ascontiguousarray(records), symmetries.images, chosen, found)
    exchanged = symmetries.exchanged[chosen]
    turned = values.copy()
    turned[exchanged] = 1 - values[exchanged] if values.shape[1] == 1 else values[exchanged][:, ::-1]
    return found, turned

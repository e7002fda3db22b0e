"""Method A of looking sets up: a linear scan. Each set is a mask of ``words`` 64-bit words, side by side."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import item


def encode_linear(partners: np.ndarray[tuple[int, int], np.dtype[np.int16]], words: int) -> Words:
    """The masks of these sets, shape (sets * words,)."""
    masks = np.zeros((len(partners), words), np.uint64)
    for column in partners.T:
        number = column.astype(np.uint64)
        masks[np.arange(len(partners)), number >> np.uint64(6)] |= np.uint64(1) << (number & np.uint64(63))
    return masks.reshape(-1)


@inner
def any_linear(data: Words, offset: Index, count: Index, bits: Words) -> bool:
    """Whether one of the ``count`` sets at ``data[offset]`` lies within ``bits``, uint64, shape (words,)."""
    words = len(bits)
    if words == 1:
        missing = ~item(bits, 0)
        number = 0
        while number < count and item(data, offset + number) & missing:
            number += 1
        return bool(number < count)
    if words == 2:
        low, high = ~item(bits, 0), ~item(bits, 1)
        for number in range(count):
            at = offset + 2 * number
            if not (item(data, at) & low) | (item(data, at + 1) & high):
                return True
        return False
    for number in range(count):
        at = offset + words * number
        outside = np.uint64(0)
        for w in range(words):
            outside |= item(data, at + w) & ~item(bits, w)
        if not outside:
            return True
    return False

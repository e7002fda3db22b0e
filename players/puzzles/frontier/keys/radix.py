"""Radix sort of one-word keys, least significant digit first."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, put


@kernel(nogil=True)
def radix_sort(keys: Words, scratch: Words, n: int, low_bit: int, high_bit: int) -> int:
    """Sort the first n keys by their bits ``low_bit .. high_bit - 1``, stably. Returns 0 if ``keys`` holds
    them then, 1 if ``scratch`` does."""
    hist = np.empty(2048, np.int64)
    which = 0
    src, dst = keys, scratch
    shift = low_bit
    every, common = np.uint64(0), ~np.uint64(0)
    for i in range(n):
        every |= item(src, i)
        common &= item(src, i)
    differ = every ^ common
    while shift < high_bit:
        bits = min(8, high_bit - shift)
        s = np.uint64(shift)
        mask = np.uint64((1 << bits) - 1)
        shift += bits
        if (differ >> s) & mask == 0:
            continue
        hist[:256] = 0
        for i in range(n):
            d = np.int64((item(src, i) >> s) & mask)
            put(hist, d, item(hist, d) + 1)
        total = 0
        for d in range(256):
            count = int(item(hist, d))
            put(hist, d, total)
            total += count
        for i in range(n):
            key = item(src, i)
            d = np.int64((key >> s) & mask)
            o = item(hist, d)
            put(dst, o, key)
            put(hist, d, o + 1)
        src, dst = dst, src
        which ^= 1
    return which

"""Radix sort of one-word keys, least significant digit first (H. Hollerith 1887; H. Seward, 1954)."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import item, put, raw

_DIGIT = 9
"""Bits of a digit at most: more places to write to than this do not stay in the first-level cache."""


@kernel(nogil=True)
def radix_sort(keys: Words, scratch: Words, n: int, low_bit: int, high_bit: int) -> int:
    """Sort the first n keys (at least n of them, and as much scratch), stably, by their bits
    ``low_bit .. high_bit - 1``; bits in which all agree cost nothing. Returns 0 if ``keys`` holds them then,
    1 if ``scratch`` does."""
    source, target = raw(keys), raw(scratch)
    every, common = np.uint64(0), ~np.uint64(0)
    for i in range(n):
        every |= item(source, i)
        common &= item(source, i)
    differ = (every ^ common) >> np.uint64(low_bit)
    if high_bit - low_bit < 64:
        differ &= (np.uint64(1) << np.uint64(high_bit - low_bit)) - np.uint64(1)
    width = 0
    while width < 64 and differ >> np.uint64(width) != 0:
        width += 1
    if width == 0:
        return 0
    passes = (width + _DIGIT - 1) // _DIGIT
    bits = (width + passes - 1) // passes
    digits = 1 << bits
    mask = np.uint64(digits - 1)
    keep = ~np.uint64(0) >> np.uint64(64 - width)
    # No bare pointer to the counts: numba would free them after their last use by name.
    counts = np.zeros(passes * digits, np.int64)
    for i in range(n):
        rest = (item(source, i) >> np.uint64(low_bit)) & keep
        for part in range(passes):
            place = part * digits + np.int64(rest & mask)
            put(counts, place, item(counts, place) + 1)
            rest >>= np.uint64(bits)
    which = 0
    for part in range(passes):
        shift = np.uint64(low_bit + part * bits)
        digit = mask & (keep >> np.uint64(part * bits))
        if (differ >> np.uint64(part * bits)) & digit == 0:
            continue
        base = part * digits
        before = 0
        for slot in range(base, base + digits):
            count = int(item(counts, slot))
            put(counts, slot, before)
            before += count
        for i in range(n):
            key = item(source, i)
            place = base + np.int64((key >> shift) & digit)
            to = item(counts, place)
            put(target, to, key)
            put(counts, place, to + 1)
        source, target = target, source
        which ^= 1
    return which

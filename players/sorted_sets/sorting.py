"""Sorting: keys of one word by radix, least significant digit first (H. Hollerith 1887; H. Seward, 1954).

Rows of several words are sorted by one word each: their topmost differing bits, with their places below. Then
rows that agree in these bits are sorted by the bits that follow.
"""

from __future__ import annotations

import numpy as np

from players.sorted_sets.rows import order, unique
from propnet.jit.arrays import Ints, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import item, put, raw

_DIGIT = 9
"""The most bits of a digit: with more, the places to write to do not stay in the first-level cache."""


@kernel(nogil=True)
def _radix_sort(keys: Words, scratch: Words, n: int, low_bit: int, high_bit: int) -> int:
    """Sort the first n keys (at least n of them, and as much scratch), stably, by their bits ``low_bit ..
    high_bit - 1``; bits in which all agree cost nothing. Returns 0 if the result is in ``keys``, 1 if it is
    in ``scratch``."""
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


_FEW = 32
"""Rows that are sorted by insertion."""
_GAP = 3
"""Up to this many bits in which all rows agree are included rather than left out."""


@inner
def _segments(rows: Words, width: int, low: int, high: int, tag_bits: int, budget: int, parts: Ints) -> int:
    """Find the topmost bits of keys in which rows ``low .. high - 1`` differ, at most ``budget``. Writes the
    word, shift and length of each stretch of such bits, topmost first. Returns the number of stretches."""
    count = 0
    for word in range(width - 1, -1, -1):
        one = item(rows, low * width + word)
        differ = np.uint64(0)
        for i in range(low + 1, high):
            differ |= item(rows, i * width + word) ^ one
        if word == 0:
            differ &= ~np.uint64(0) << np.uint64(tag_bits)
        bit = 63
        while bit >= 0 and differ != 0 and budget > 0:
            if differ >> np.uint64(bit) & np.uint64(1) == 0:
                bit -= 1
                continue
            lowest = bit
            below = bit - 1
            while below >= 0 and lowest - below <= _GAP and bit - below < budget:
                if differ >> np.uint64(below) & np.uint64(1) != 0:
                    lowest = below
                below -= 1
            put(parts, 3 * count, word)
            put(parts, 3 * count + 1, lowest)
            put(parts, 3 * count + 2, bit - lowest + 1)
            count += 1
            budget -= bit - lowest + 1
            bit = lowest - 1
        if budget == 0:
            break
    return count


@inner
def _insertion_sort(rows: Words, width: int, low: int, high: int, held: Words) -> None:
    """Sort rows ``low .. high - 1``; ``held`` has room for a row."""
    for i in range(low + 1, high):
        if order(rows, i - 1, rows, i, width, 0) <= 0:
            continue
        for word in range(width):
            put(held, word, item(rows, i * width + word))
        j = i - 1
        while j >= low and order(rows, j, held, 0, width, 0) > 0:
            for word in range(width):
                put(rows, (j + 1) * width + word, item(rows, j * width + word))
            j -= 1
        for word in range(width):
            put(rows, (j + 1) * width + word, item(held, word))


@inner
def _pack(rows: Words, width: int, low: int, high: int, tag_bits: int, packed: Words, parts: Ints) -> int:
    """Write into ``packed`` the topmost bits of keys in which rows ``low .. high - 1`` differ, with the row
    numbers, counted from ``low``, below them. Returns the number of bits of the row numbers, 0 if all keys
    are equal."""
    n = high - low
    index_bits = 1
    while n > 1 << index_bits:
        index_bits += 1
    count = _segments(rows, width, low, high, tag_bits, 64 - index_bits, parts)
    for i in range(n):
        value = np.uint64(0)
        for part in range(count):
            length = np.uint64(item(parts, 3 * part + 2))
            word, shift = item(parts, 3 * part), np.uint64(item(parts, 3 * part + 1))
            bits = item(rows, (low + i) * width + word) >> shift
            value = (value << length) | (bits & ((np.uint64(1) << length) - np.uint64(1)))
        put(packed, i, (value << np.uint64(index_bits)) | np.uint64(i))
    return index_bits if count else 0


@inner
def _gather(
    rows: Words, width: int, low: int, high: int, ordered: Words, index_bits: int, out: Words
) -> None:
    """Write rows ``low .. high - 1`` to the same places of ``out``, in the order of the packed words."""
    mask = (np.uint64(1) << np.uint64(index_bits)) - np.uint64(1)
    for i in range(high - low):
        start = (low + np.int64(item(ordered, i) & mask)) * width
        for word in range(width):
            put(out, (low + i) * width + word, item(rows, start + word))


@inner
def _push_groups(
    rows: Words, width: int, low: int, n: int, ordered: Words, ignore: int, groups: Ints, waiting: int,
    held: Words,
) -> int:  # fmt: skip
    """Sort the small groups of rows with the same bits, and queue the large ones. Returns the number of
    queued groups."""
    shift = np.uint64(ignore)
    first = 0
    before = item(ordered, 0) >> shift
    for i in range(1, n + 1):
        if i < n:
            here = item(ordered, i) >> shift
            if here == before:
                continue
            before = here
        if i - first > _FEW:
            put(groups, 2 * waiting, low + first)
            put(groups, 2 * waiting + 1, low + i)
            waiting += 1
        elif i - first > 1:
            _insertion_sort(rows, width, low + first, low + i, held)
        first = i
    return waiting


def as_set(rows: Words, scratch: Words, n: int, tag_bits: int) -> Words:
    """Return the first n rows (:mod:`players.sorted_sets.rows`) in order, each key once, with its smallest
    tag; either array may hold them."""
    found = scratch if _sort_rows(rows, scratch, n, tag_bits) else rows
    return found[: unique(found, n, tag_bits)]


def _sort_rows(rows: Words, scratch: Words, n: int, tag_bits: int) -> bool:
    """Sort the first n of ``rows``, uint64 (at least n, words), by their keys above ``tag_bits``
    (:mod:`players.sorted_sets.rows`); ``scratch`` has the same size. Returns whether the result is in
    ``scratch``."""
    if rows.shape[1] == 1:
        return bool(_radix_sort(rows.ravel(), scratch.ravel(), n, tag_bits, 64))
    packed, other = np.empty(n, np.uint64), np.empty(n, np.uint64)
    parts, held = np.empty(3 * 64, np.int64), np.empty(rows.shape[1], np.uint64)
    groups = np.empty(2 * (n // _FEW + 1), np.int64)
    return bool(_sort(rows, scratch, n, tag_bits, packed, other, parts, held, groups))


@kernel(nogil=True)
def _sort(
    rows: Words,
    scratch: Words,
    n: int,
    tag_bits: int,
    packed: Words,
    other: Words,
    parts: Ints,
    held: Words,
    groups: Ints,
) -> int:
    width = rows.shape[1]
    # Bare pointers are safe: all arrays are the caller's.
    source, target, bits, one, stack = raw(rows), raw(scratch), raw(parts), raw(held), raw(groups)
    if n <= _FEW:
        _insertion_sort(source, width, 0, n, one)
        return 0
    ignore = _pack(source, width, 0, n, tag_bits, raw(packed), bits)
    if ignore == 0:
        return 0
    ordered = raw(other) if _radix_sort(packed, other, n, ignore, 64) else raw(packed)
    _gather(source, width, 0, n, ordered, ignore, target)
    waiting = _push_groups(target, width, 0, n, ordered, ignore, stack, 0, one)
    while waiting > 0:
        waiting -= 1
        low, high = int(item(stack, 2 * waiting)), int(item(stack, 2 * waiting + 1))
        ignore = _pack(target, width, low, high, tag_bits, raw(packed), bits)
        if ignore == 0:
            continue
        ordered = raw(other) if _radix_sort(packed, other, high - low, ignore, 64) else raw(packed)
        _gather(target, width, low, high, ordered, ignore, source)
        for at in range(low * width, high * width):
            put(target, at, item(source, at))
        waiting = _push_groups(target, width, low, high - low, ordered, ignore, stack, waiting, one)
    return 1

"""Sorting rows of several words: by their topmost differing bits with their places below these, one word
each; then rows that agree in these bits by the bits that follow."""

from __future__ import annotations

import numpy as np

from players.puzzles.frontier.keys.radix import radix_sort
from players.puzzles.frontier.keys.wide_kernels import compare
from propnet.jit.arrays import Ints, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import item, put

_FEW = 32
"""Rows that are sorted by insertion."""
_GAP = 3
"""So many bits in which all rows agree are taken with their neighbours rather than left out."""


@inner
def _segments(rows: Words, low: int, high: int, budget: int, parts: Ints) -> int:
    """The topmost bits in which rows ``low .. high - 1`` differ, ``budget`` at most: writes the word, shift
    and length of each stretch of such bits, topmost first; returns how many stretches there are."""
    width = rows.shape[1]
    count = 0
    for word in range(width):
        one = item(rows, low * width + word)
        differ = np.uint64(0)
        for i in range(low + 1, high):
            differ |= item(rows, i * width + word) ^ one
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
def _insertion_sort(rows: Words, low: int, high: int, held: Words) -> None:
    """Sort rows ``low .. high - 1``; ``held`` has room for a row."""
    width = rows.shape[1]
    for i in range(low + 1, high):
        if compare(rows, (i - 1) * width, rows, i * width, width) <= 0:
            continue
        for word in range(width):
            put(held, word, item(rows, i * width + word))
        j = i - 1
        while j >= low and compare(rows, j * width, held, 0, width) > 0:
            for word in range(width):
                put(rows, (j + 1) * width + word, item(rows, j * width + word))
            j -= 1
        for word in range(width):
            put(rows, (j + 1) * width + word, item(held, word))


@inner
def _distribute(
    rows: Words, low: int, high: int, out: Words, packed: Words, other: Words, parts: Ints
) -> tuple[int, int, int]:
    """Write rows ``low .. high - 1`` to the same places of ``out``, sorted by their topmost differing bits.
    Returns whether they differ at all, whether the bits are in ``other`` then and not in ``packed``, and how
    many low bits of these words to ignore."""
    width, n = rows.shape[1], high - low
    index_bits = 1
    while n > 1 << index_bits:
        index_bits += 1
    count = _segments(rows, low, high, 64 - index_bits, parts)
    if count == 0:
        return 0, 0, 0
    for i in range(n):
        value = np.uint64(0)
        for part in range(count):
            length = np.uint64(item(parts, 3 * part + 2))
            bits = item(rows, (low + i) * width + item(parts, 3 * part)) >> np.uint64(
                item(parts, 3 * part + 1)
            )
            value = (value << length) | (bits & ((np.uint64(1) << length) - np.uint64(1)))
        put(packed, i, (value << np.uint64(index_bits)) | np.uint64(i))
    swapped = radix_sort(packed, other, n, index_bits, 64)
    mask = (np.uint64(1) << np.uint64(index_bits)) - np.uint64(1)
    for i in range(n):
        place = (item(other, i) if swapped else item(packed, i)) & mask
        start = (low + np.int64(place)) * width
        for word in range(width):
            put(out, (low + i) * width + word, item(rows, start + word))
    return 1, swapped, index_bits


@inner
def _push_groups(
    rows: Words, low: int, n: int, ordered: Words, ignore: int, groups: Ints, waiting: int, held: Words
) -> int:
    """Sort the small groups of rows with the same bits, and note the large ones; returns how many wait."""
    shift = np.uint64(ignore)
    first = 0
    for i in range(1, n + 1):
        if i < n and item(ordered, i) >> shift == item(ordered, first) >> shift:
            continue
        if i - first > _FEW:
            put(groups, 2 * waiting, low + first)
            put(groups, 2 * waiting + 1, low + i)
            waiting += 1
        elif i - first > 1:
            _insertion_sort(rows, low + first, low + i, held)
        first = i
    return waiting


@kernel(nogil=True)
def sort_rows(rows: Words, scratch: Words, n: int, packed: Words, other: Words) -> int:
    """Sort the first n rows of ``rows`` (at least n, words), in unsigned order, the first word most
    significant; as much room in ``scratch``, and n words in ``packed`` and ``other`` each. Returns 1 if
    ``scratch`` holds them then, 0 if ``rows`` does."""
    width = rows.shape[1]
    parts = np.empty(3 * 64, np.int64)
    held = np.empty(width, np.uint64)
    groups = np.empty(2 * (n // _FEW + 1), np.int64)
    if n <= _FEW:
        _insertion_sort(rows, 0, n, held)
        return 0
    differ, swapped, ignore = _distribute(rows, 0, n, scratch, packed, other, parts)
    if differ == 0:
        return 0
    waiting = _push_groups(scratch, 0, n, other if swapped else packed, ignore, groups, 0, held)
    while waiting > 0:
        waiting -= 1
        low, high = int(groups[2 * waiting]), int(groups[2 * waiting + 1])
        differ, swapped, ignore = _distribute(scratch, low, high, rows, packed, other, parts)
        if differ == 0:
            continue
        for at in range(low * width, high * width):
            put(scratch, at, item(rows, at))
        ordered = other if swapped else packed
        waiting = _push_groups(scratch, low, high - low, ordered, ignore, groups, waiting, held)
    return 1

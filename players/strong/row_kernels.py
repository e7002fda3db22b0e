"""Sorted sets of state records: radix sort, duplicates, differences, look-ups (kernels).

A record (:mod:`propnet.kernels.records`) counts as one large number, its last word the most significant one.
A *set* is a uint64 array (n, words) of records in ascending order, none of them twice. The sort takes the
bytes from the least significant one on (Knuth, The Art of Computer Programming 3, 5.2.5); bytes in which all
records agree cost nothing.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Flags, Index, Int32s, Ints, Words
from propnet.jit.decorators import inner, kernel

FINGERS = 1 << 12
"""Number of places that :func:`find_rows` remembers, about one for each move."""


@kernel(nogil=True)
def sort_rows(rows: Words, scratch: Words, counts: Ints) -> bool:
    """Sort records (n, words). ``scratch`` has the same shape, ``counts`` is (8 * words, 256). Returns
    whether the sorted rows are in the scratch array; the contents of the other one are then invalid."""
    n, words = rows.shape
    counts[:] = 0
    for i in range(n):
        for word in range(words):
            left = rows[i, word]
            for byte in range(8):
                counts[8 * word + byte, np.int64(left & np.uint64(255))] += 1
                left >>= np.uint64(8)
    swapped = False
    for digit in range(8 * words):
        word, shift = digit >> 3, np.uint64(8 * (digit & 7))
        places = counts[digit]
        total = 0
        single = False
        for value in range(256):
            count = places[value]
            single |= bool(count == n)
            places[value] = total
            total += count
        if single:
            continue
        source, target = (scratch, rows) if swapped else (rows, scratch)
        for i in range(n):
            value = int((source[i, word] >> shift) & np.uint64(255))
            place = places[value]
            places[value] = place + 1
            for w in range(words):
                target[place, w] = source[i, w]
        swapped = not swapped
    return swapped


@kernel(nogil=True)
def drop_repeated(rows: Words) -> int:
    """Move the first of equal sorted rows to the front, in their order. Returns the number of different
    rows."""
    n, words = rows.shape
    count = 0
    for i in range(n):
        differs = count == 0
        for word in range(words):
            differs |= rows[i, word] != rows[count - 1, word]
        if differs:
            for word in range(words):
                rows[count, word] = rows[i, word]
            count += 1
    return count


@inner
def _below(rows: Words, i: Index, others: Words, k: Index) -> bool:
    """Whether row i is less than row k of the others."""
    for back in range(rows.shape[1]):
        word = rows.shape[1] - 1 - back
        if rows[i, word] != others[k, word]:
            return bool(rows[i, word] < others[k, word])
    return False


@inner
def _place(rows: Words, wanted: Words, k: Index, near: Index) -> Index:
    """The first row of a set that is not less than the wanted one, by doubling steps from a place near it
    (Bentley and Yao 1976)."""
    n = np.int64(rows.shape[0])
    step = np.int64(1)
    low: Index
    high: Index
    if near < n and _below(rows, near, wanted, k):
        low = near + 1
        while low + step <= n and _below(rows, low + step - 1, wanted, k):
            low += step
            step *= 2
        high = min(n, low + step)
    else:
        high = near
        while high >= step and not _below(rows, high - step, wanted, k):
            high -= step
            step *= 2
        low = max(np.int64(0), high - step)
    while low < high:
        middle = (low + high) >> 1
        if _below(rows, middle, wanted, k):
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _equal(rows: Words, i: Index, others: Words, k: Index) -> bool:
    if i >= rows.shape[0]:
        return False
    same = True
    for word in range(rows.shape[1]):
        same &= bool(rows[i, word] == others[k, word])
    return same


@kernel(nogil=True)
def find_rows(rows: Words, wanted: Words, moves: Int32s, fingers: Ints, places: Ints) -> int:
    """Write the place of each wanted record (m, words) in a set, -1 for records that are not in it. Returns
    the number of these.

    The successors of a set by one move lie close to each other, so the search begins where the last one by
    the same joint move, ``moves`` (m, roles), ended. ``fingers`` (FINGERS,) holds these places.
    """
    n = np.int64(rows.shape[0])
    missing = 0
    for k in range(wanted.shape[0]):
        finger = np.int64(0)
        for role in range(moves.shape[1]):
            finger = finger * 61 + moves[k, role]
        finger &= FINGERS - 1
        place = _place(rows, wanted, k, min(fingers[finger], n))
        fingers[finger] = place
        if _equal(rows, place, wanted, k):
            places[k] = place
        else:
            places[k] = -1
            missing += 1
    return missing


@kernel(nogil=True)
def subtract(rows: Words, old: Words, kept: Flags) -> int:
    """Clear the flags (n,) of the rows of a set that are in another one. Returns the number of these rows."""
    place: Index = np.int64(0)
    found = 0
    for i in range(rows.shape[0]):
        place = _place(old, rows, i, place)
        if _equal(old, place, rows, i):
            kept[i] = False
            found += 1
    return found


@kernel(nogil=True)
def signature(rows: Words, always: Words, ever: Words, ones: Ints) -> None:
    """Fill in the common features of all records of a set: the bits that are ``always`` (words,) true, those
    that are ``ever`` true, and the least and the greatest number of ``ones`` (2,)."""
    always[:] = ~np.uint64(0)
    ever[:] = np.uint64(0)
    ones[0], ones[1] = 1 << 30, -1
    for i in range(rows.shape[0]):
        count = np.int64(0)
        for word in range(rows.shape[1]):
            left = rows[i, word]
            always[word] &= left
            ever[word] |= left
            left -= (left >> np.uint64(1)) & np.uint64(0x5555555555555555)
            left = (left & np.uint64(0x3333333333333333)) + (
                (left >> np.uint64(2)) & np.uint64(0x3333333333333333)
            )
            left = (left + (left >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
            count += np.int64((left * np.uint64(0x0101010101010101)) >> np.uint64(56))
        ones[0] = min(ones[0], count)
        ones[1] = max(ones[1], count)


@kernel(nogil=True)
def count_upto(rows: Words, bound: Words) -> int:
    """Number of rows of a set that are not greater than the one row of ``bound`` (1, words)."""
    place = _place(rows, bound, np.int64(0), np.int64(rows.shape[0]) >> 1)
    return int(place) + int(_equal(rows, place, bound, np.int64(0)))

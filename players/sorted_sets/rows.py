"""Kernels on sorted rows: duplicates, differences, unions, look-ups.

A row, uint64 (words,), counts as one large number, its last word the most significant one: its upper bits are
a key, the ``tag_bits`` lowest ones a *tag*. Rows are sorted by key. Of several equal keys the smallest tag
stays, in any order of arrival, so that results do not depend on which worker found a state first.

Each kernel is compiled for one word and for any number of words: with a constant 1, the loops over the words
disappear.
"""

# mypy: disable-error-code=no-any-return
# (`inlined` has no types)

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inlined, inner, kernel
from propnet.jit.vector512 import item, put

FINGERS = 1 << 12
"""The number of places that :func:`seek` remembers, about one for each move."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT, _ONE, _63 = np.uint64(32), np.uint64(1), np.uint64(63)


@inner
def order(first: Words, i: Index, second: Words, j: Index, words: Index, tag_bits: Index) -> Index:
    """Return -1, 0 or 1: compare the keys of row i of an array and of row j of another."""
    for word in range(words - 1, 0, -1):
        a, b = item(first, i * words + word), item(second, j * words + word)
        if a != b:
            return -1 if a < b else 1
    a, b = item(first, i * words) >> np.uint64(tag_bits), item(second, j * words) >> np.uint64(tag_bits)
    return np.int64(a > b) - np.int64(a < b)


@inner
def _own_tag(rows: Words, i: Index, words: Index) -> np.uint64:
    """Return a hash of the row: 8 bits."""
    h = np.uint64(0)
    for word in range(words):
        h = (h ^ (h >> _SHIFT)) * _MIX + item(rows, i * words + word)
    h = (h ^ (h >> np.uint64(29))) * np.uint64(0x9FB21C651E98DF25)
    h = (h ^ (h >> _SHIFT)) * _MIX
    return h >> np.uint64(56)


@kernel(**ARENA)
def gather(
    records: Words, parents: Int32s, tags: Words, mask: Words, tag_bits: int, rows: Words, at: int
) -> np.uint64:
    """Append the keys of successors (n, any width) to the rows from place ``at`` on, with the tag (m,) of
    each one's parent. ``mask`` (words,) has the bits of keys in records. Returns the last words of all
    successors, ORed."""
    if mask.size == 1:
        return _gather(records, parents, tags, mask, tag_bits, rows, at, 1)
    return _gather(records, parents, tags, mask, tag_bits, rows, at, mask.size)


@inlined
def _gather(
    records: Words, parents: Int32s, tags: Words, mask: Words, tag_bits: int, rows: Words, at: int, words: int
) -> np.uint64:
    width, shift = records.shape[1], np.uint64(tag_bits)
    every = np.uint64(0)
    to = at * words
    for i in range(records.shape[0]):
        low = item(tags, item(parents, i))
        for word in range(words):
            bits = np.uint64(0)
            if word < width:
                bits = item(records, i * width + word) & item(mask, word)
            put(rows, to, (bits << shift) | low)
            low = (bits >> (_63 - shift)) >> _ONE
            to += 1
        every |= item(records, i * width + width - 1)
    return every


@kernel(**ARENA)
def to_records(rows: Words, template: Words, tag_bits: int, records: Words, tags: Words) -> None:
    """Write the records (n, width) of states with these keys (n, words) and all other bits as in the template
    (width,), and the tags (n,) for their successors."""
    if rows.shape[1] == 1:
        _to_records(rows, template, tag_bits, records, tags, 1)
    else:
        _to_records(rows, template, tag_bits, records, tags, rows.shape[1])


@inlined
def _to_records(rows: Words, template: Words, tag_bits: int, records: Words, tags: Words, words: int) -> None:
    width, shift = template.size, np.uint64(tag_bits)
    for i in range(rows.shape[0]):
        if tag_bits:
            put(tags, i, _own_tag(rows, i, words))
        for word in range(width):
            value = item(template, word)
            if word < words:
                value |= item(rows, i * words + word) >> shift
            if word + 1 < words:
                value |= (item(rows, i * words + word + 1) << (_63 - shift)) << _ONE
            put(records, i * width + word, value)


@kernel(**ARENA)
def unique(rows: Words, n: int, tag_bits: int) -> int:
    """Keep each key once, with its smallest tag, among the first n rows, which are sorted by key, in place.
    Returns the number of rows left."""
    if rows.shape[1] == 1:
        return _unique(rows, n, tag_bits, 1)
    return _unique(rows, n, tag_bits, rows.shape[1])


@inlined
def _unique(rows: Words, n: int, tag_bits: int, words: int) -> int:
    count = min(n, 1)
    least = item(rows, 0) if n else np.uint64(0)
    for i in range(1, n):
        new = order(rows, i, rows, i - 1, words, tag_bits) != 0
        here = item(rows, i * words)
        least = here if new | (here < least) else least
        count += new
        for word in range(1, words):
            put(rows, (count - 1) * words + word, item(rows, i * words + word))
        put(rows, (count - 1) * words, least)
    return count


@kernel(**ARENA)
def mark_known(rows: Words, known: Words, tag_bits: int, dead: Octets) -> None:
    """Set ``dead`` (n,) to 1 for the rows (n, words), ascending, whose keys are among the known ones (m,
    words), ascending."""
    if rows.shape[1] == 1:
        _mark_known(rows, known, tag_bits, dead, 1)
    else:
        _mark_known(rows, known, tag_bits, dead, rows.shape[1])


@inlined
def _mark_known(rows: Words, known: Words, tag_bits: int, dead: Octets, words: int) -> None:
    n, m = rows.shape[0], known.shape[0]
    i: Index = 0
    j: Index = 0
    if 16 * n < m:
        for i in range(n):
            j = _place(known, m, rows, i, j, words, tag_bits)
            if j == m:
                return
            put(dead, i, item(dead, i) | (order(known, j, rows, i, words, tag_bits) == 0))
        return
    while i < n and j < m:
        which = order(rows, i, known, j, words, tag_bits)
        put(dead, i, item(dead, i) | (which == 0))
        i += which <= 0
        j += which >= 0


@kernel(**ARENA)
def split(rows: Words, n: int, dead: Octets, tag_bits: int, keys: Words, tags: Octets) -> int:
    """Write the keys, without tags, and the tags of the first n rows that are not dead. Returns their
    number."""
    if rows.shape[1] == 1:
        return _split(rows, n, dead, tag_bits, keys, tags, 1)
    return _split(rows, n, dead, tag_bits, keys, tags, rows.shape[1])


@inlined
def _split(rows: Words, n: int, dead: Octets, tag_bits: int, keys: Words, tags: Octets, words: int) -> int:
    mask = (_ONE << np.uint64(tag_bits)) - _ONE
    count = 0
    for i in range(n):
        low = item(rows, i * words)
        put(keys, count * words, low & ~mask)
        for word in range(1, words):
            put(keys, count * words + word, item(rows, i * words + word))
        put(tags, count, np.uint8(low & mask))
        count += item(dead, i) == 0
    return count


@kernel(**ARENA)
def merge_disjoint(first: Words, second: Words, out: Words) -> None:
    """Merge two ascending arrays of rows without a common one into ``out`` (n + m, words)."""
    if first.shape[1] == 1:
        _merge(first, second, out, 1)
    else:
        _merge(first, second, out, first.shape[1])


@inlined
def _merge(first: Words, second: Words, out: Words, words: int) -> None:
    n, m = first.shape[0], second.shape[0]
    i: Index = 0
    j: Index = 0
    for k in range(n + m):
        from_first = j == m or (i < n and order(first, i, second, j, words, 0) < 0)
        for word in range(words):
            value = item(first, i * words + word) if from_first else item(second, j * words + word)
            put(out, k * words + word, value)
        i += from_first
        j += not from_first


@kernel(**ARENA)
def with_tag(rows: Words, tag: np.uint64, out: Words) -> int:
    """Write the rows that have this tag of their own. Returns their number."""
    words = rows.shape[1]
    written = 0
    for i in range(rows.shape[0]):
        if _own_tag(rows, i, words) == tag:
            for word in range(words):
                put(out, written * words + word, item(rows, i * words + word))
            written += 1
    return written


@inner
def _place(
    rows: Words, n: Index, wanted: Words, k: Index, near: Index, words: Index, tag_bits: Index
) -> Index:
    """Return the first of n rows whose key is not below that of row k of the wanted ones, by doubling steps
    from a place near it (Bentley and Yao 1976)."""
    step = np.int64(1)
    low: Index
    high: Index
    if near < n and order(rows, near, wanted, k, words, tag_bits) < 0:
        low = near + 1
        while low + step <= n and order(rows, low + step - 1, wanted, k, words, tag_bits) < 0:
            low += step
            step *= 2
        high = min(n, low + step)
    else:
        high = near
        while high >= step and order(rows, high - step, wanted, k, words, tag_bits) >= 0:
            high -= step
            step *= 2
        low = max(np.int64(0), high - step)
    while low < high:
        middle = (low + high) >> 1
        if order(rows, middle, wanted, k, words, tag_bits) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(**ARENA)
def seek(rows: Words, wanted: Words, moves: Int32s, tag_bits: int, fingers: Ints, places: Ints) -> int:
    """Write for each wanted row (m, words) the number of ascending rows whose keys are below its own. Returns
    the number of wanted keys that are missing.

    The successors of a set by one move lie close to each other, so the search begins where the last one by
    the same joint move, ``moves`` (m, roles), ended. ``fingers`` (FINGERS,) holds these places.
    """
    n, words = np.int64(rows.shape[0]), rows.shape[1]
    missing = 0
    for k in range(wanted.shape[0]):
        finger: Index = np.int64(0)
        for role in range(moves.shape[1]):
            finger = finger * 61 + item(moves, k * moves.shape[1] + role)
        finger &= FINGERS - 1
        place = _place(rows, n, wanted, k, min(item(fingers, finger), n), words, tag_bits)
        put(fingers, finger, place)
        put(places, k, place)
        missing += place == n or order(rows, place, wanted, k, words, tag_bits) != 0
    return missing

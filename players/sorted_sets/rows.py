"""Kernels on rows of words: sorting, duplicates, differences, unions, look-ups.

A row, uint64 (words,), counts as one large number, its last word the most significant one: its upper bits are
a key, the ``tag_bits`` lowest ones a *tag*. Rows are sorted by key. Of several equal keys the smallest tag
stays, in any order of arrival, so that results do not depend on which worker found a state first.

Most kernels are compiled for one word and for any number of words: with a constant 1, the loops over the
words disappear.

Keys of one word are sorted by radix, least significant digit first (H. Hollerith 1887; H. Seward, 1954). Rows
of several words are sorted by one word each: their topmost differing bits, with their places below. Then rows
that agree in these bits are sorted by the bits that follow.
"""

# mypy: disable-error-code=no-any-return
# (`inlined` has no types)

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import ARENA, inlined, inner, kernel
from propnet.jit.vector512 import item, put, raw

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
def _put_in_order(
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
    _put_in_order(source, width, 0, n, ordered, ignore, target)
    waiting = _push_groups(target, width, 0, n, ordered, ignore, stack, 0, one)
    while waiting > 0:
        waiting -= 1
        low, high = int(item(stack, 2 * waiting)), int(item(stack, 2 * waiting + 1))
        ignore = _pack(target, width, low, high, tag_bits, raw(packed), bits)
        if ignore == 0:
            continue
        ordered = raw(other) if _radix_sort(packed, other, high - low, ignore, 64) else raw(packed)
        _put_in_order(target, width, low, high, ordered, ignore, source)
        for at in range(low * width, high * width):
            put(target, at, item(source, at))
        waiting = _push_groups(target, width, low, high - low, ordered, ignore, stack, waiting, one)
    return 1

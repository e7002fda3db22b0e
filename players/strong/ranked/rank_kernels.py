"""Kernels on one-word records with a rank: filed by rank, made unique, packed in groups, looked up."""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import item, put

SCALE = 20
"""Bits behind the point of a scaled rank."""

GROUP = 16
"""Keys of a group that is packed together: the first one as it is, the others as gaps."""

MOST_BYTES = 10
"""Of a gap, in groups of seven bits."""

OUTCOME_BITS = 5
"""Bits of a value that say which outcome; those above them are the distance."""

FINGERS = 1 << 10
"""Groups that :func:`look_up` remembers, one for each joint move more or less."""

_SEVEN, _MORE, _LOW = np.uint64(7), np.uint64(128), np.uint64(127)


@kernel(nogil=True)
def rank_of(
    records: Words, shifts: Words, masks: Words, starts: Ints, sums: Ints, offset: int, ranks: Ints
) -> None:
    """Write the ranks (n,) of records (n,) (:class:`players.strong.ranked.rank.Rank`)."""
    for i in range(records.size):
        total = np.int64(offset)
        record = item(records, i)
        for part in range(shifts.size):
            place = item(starts, part) + np.int64((record >> item(shifts, part)) & item(masks, part))
            total += item(sums, place)
        put(ranks, i, total >> SCALE)


@kernel(nogil=True)
def file_successors(
    records: Words, ranks: Ints, parent: int, broken: np.uint64, keys: Words, filed: Int32s, at: int
) -> int:
    """Append successors (n, 1) with ranks (n,) to ``keys`` and ``filed`` from place ``at`` on. Returns -1, or
    the first one that has the ``broken`` bit or a rank that is not above its parent's."""
    for i in range(records.shape[0]):
        record = item(records, i)
        rank = item(ranks, i)
        if record & broken or rank <= parent:
            return i
        put(keys, at + i, record)
        put(filed, at + i, np.int32(rank))
    return -1


@kernel(nogil=True)
def part_by_rank(keys: Words, filed: Int32s, n: int, low: int, counts: Ints, out: Words) -> None:
    """Write the first n keys to ``out``, those of each rank together. ``counts`` (ranks + 1,) becomes the
    place where each of the ranks, counted from ``low``, begins."""
    counts[:] = 0
    for i in range(n):
        counts[item(filed, i) - low + 1] += 1
    for i in range(1, counts.size):
        counts[i] += counts[i - 1]
    places = counts[:-1].copy()
    for i in range(n):
        rank = item(filed, i) - low
        place = places[rank]
        put(out, place, item(keys, i))
        places[rank] = place + 1


@kernel(nogil=True)
def drop_equal(keys: Words, n: int) -> int:
    """Keep the first of equal ones among n sorted keys, in place; returns how many are left."""
    if n == 0:
        return 0
    last = 0
    before = item(keys, 0)
    for i in range(1, n):
        here = item(keys, i)
        last += here != before
        before = here
        put(keys, last, here)
    return last + 1


@kernel(nogil=True)
def pack_groups(keys: Words, firsts: Words, offsets: Ints, data: Octets) -> int:
    """Pack ascending keys (n,) in groups of GROUP: the first of each, where its gaps begin in ``data``, and
    these. Returns how many bytes they are."""
    at = 0
    before = np.uint64(0)
    for i in range(keys.size):
        key = item(keys, i)
        if i % GROUP == 0:
            put(firsts, i // GROUP, key)
            put(offsets, i // GROUP, np.int64(at))
        else:
            gap = key - before
            while gap >= _MORE:
                put(data, at, np.uint8(gap | _MORE))
                gap >>= _SEVEN
                at += 1
            put(data, at, np.uint8(gap))
            at += 1
        before = key
    return at


@inner
def _group(firsts: Words, key: np.uint64, near: Index) -> Index:
    """The last group whose first key is not above this one, by doubling steps from one near it (Bentley and
    Yao 1976); -1 where there is none."""
    n = np.int64(firsts.size)
    step = np.int64(1)
    low: Index
    high: Index
    if item(firsts, near) <= key:
        low = near
        while low + step < n and item(firsts, low + step) <= key:
            low += step
            step *= 2
        high = min(n, low + step)
    else:
        high = near
        while high >= step and item(firsts, high - step) > key:
            high -= step
            step *= 2
        low = max(np.int64(-1), high - step)
    while high - low > 1:
        middle = (low + high) >> 1
        if item(firsts, middle) <= key:
            low = middle
        else:
            high = middle
    return low


@kernel(nogil=True)
def look_up(
    firsts: Words,
    offsets: Ints,
    data: Octets,
    codes: Ints,
    wanted: Words,
    ranks: Ints,
    rank: int,
    moves: Int32s,
    fingers: Ints,
    values: Octets,
    distances: Ints,
) -> int:
    """Write values and distances of those of the wanted records (n, 1), with ranks (n,), that have this rank,
    from a layer's packed groups and its ``codes`` (uint16). Returns how many are not there.

    The successors of a set by one move lie close to each other: the search begins where the last one by the
    same joint move, ``moves`` (n, roles), ended. ``fingers`` (FINGERS,) holds these places.
    """
    missing = 0
    groups = np.int64(firsts.size)
    for k in range(wanted.shape[0]):
        if item(ranks, k) != rank:
            continue
        finger = np.int64(0)
        for role in range(moves.shape[1]):
            finger = finger * 61 + moves[k, role]
        finger &= FINGERS - 1
        key = item(wanted, k)
        group = _group(firsts, key, fingers[finger])
        if group < 0:
            missing += 1
            continue
        fingers[finger] = group
        place = group * GROUP
        end = item(offsets, group + 1) if group + 1 < groups else np.int64(data.size)
        here = item(firsts, group)
        at = item(offsets, group)
        while here < key and at < end:
            byte = np.uint64(item(data, at))
            at += 1
            gap = byte & _LOW
            shift = _SEVEN
            while byte >= _MORE:
                byte = np.uint64(item(data, at))
                at += 1
                gap |= (byte & _LOW) << shift
                shift += _SEVEN
            here += gap
            place += 1
        if here != key:
            missing += 1
            continue
        code = item(codes, place)
        values[k] = np.uint8(np.int64(code) & ((1 << OUTCOME_BITS) - 1))
        distances[k] = np.uint16(np.int64(code) >> OUTCOME_BITS)
    return missing

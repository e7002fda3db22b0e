"""Numbers of 512 lanes in planes: legal moves are counted, and ranks below the counts are drawn and counted
down.

Many moves are counted in groups of fifteen, for the reason in :mod:`propnet.kernels.uniform_choice`. The
scratch array ``groups`` is described there.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.random_numbers import advance
from propnet.jit.vector512 import BYTES, WORDS, any_lane, item, load, put, splat, store
from propnet.kernels.scratch import GROUP, GROUP_ROWS

GROUP_BYTES = GROUP * BYTES
"""The bytes of the wires of a group."""


@inner
def count_move(
    legal: Vector, ones: Vector, twos: Vector, fours: Vector
) -> tuple[Vector, Vector, Vector, Vector]:
    """Count one more move in the lanes in which it is legal. Returns the three planes of the count, and the
    carry."""
    two = ones & legal
    four = twos & two
    return ones ^ legal, twos ^ two, fours ^ four, fours & four


@inner
def add_carry(planes: Words, at: Index, carry: Vector) -> Index:
    """Add a carry to the numbers whose planes begin at byte ``at``. Returns the end of the planes that
    changed, in bytes."""
    while any_lane(carry):
        before = load(planes, at)
        store(planes, at, before ^ carry)
        carry = carry & before
        at += BYTES
    return at


@inner
def highest_rank(planes: Words, depth: Index, top: Index, some: Vector) -> Index:
    """Turn counts of ``top`` planes into counts - 1 in ``some`` lanes with a legal move, and into 0 in
    others. Returns the number of planes that these need.

    The second planes become the masks for the draw: all bits up to the highest one."""
    borrow = some
    for k in range(top):
        old = load(planes, k * BYTES) & some
        store(planes, k * BYTES, old ^ borrow)
        borrow = borrow & ~old
    bits: Index = 0
    mask = splat(0)
    for back in range(top):
        plane = top - 1 - back
        mask = mask | load(planes, plane * BYTES)
        store(planes, (depth + plane) * BYTES, mask)
        if bits == 0 and any_lane(mask):
            bits = plane + 1
    return bits


@inner
def draw(planes: Words, depth: Index, bits: Index, drawing: Vector, streams: Words) -> None:
    """Draw ranks from 0 to the highest rank, all equally likely, into the third planes.

    A lane draws as many random bits as its highest rank has, until they do not exceed it: on average
    fewer than two draws. Only lanes that must draw again take the new bits."""
    s0 = load(streams, 0)
    s1 = load(streams, BYTES)
    s2 = load(streams, 2 * BYTES)
    s3 = load(streams, 3 * BYTES)
    ranks = 2 * depth * BYTES
    for k in range(depth):
        store(planes, ranks + k * BYTES, splat(0))
    while any_lane(drawing):
        above = splat(0)
        for k in range(bits):
            random, s0, s1, s2, s3 = advance(s0, s1, s2, s3)
            highest = load(planes, k * BYTES)
            drawn = random & load(planes, (depth + k) * BYTES)
            above = (drawn & ~highest) | (above & ~(drawn ^ highest))
            at = ranks + k * BYTES
            store(planes, at, (load(planes, at) & ~drawing) | (drawn & drawing))
        drawing = drawing & above
    store(streams, 0, s0)
    store(streams, BYTES, s1)
    store(streams, 2 * BYTES, s2)
    store(streams, 3 * BYTES, s3)


# The walks: subtract each move's wire from the ranks and leave the borrow in its place. The lanes that
# borrow from the top plane have chosen the move: the rank is then all ones, and too few legal moves remain
# to choose again. More than six planes take several walks, each borrowing from the one before.


@inner
def count_down(borrow: Vector, p0: Vector, p1: Vector, p2: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Subtract a bit from ranks of three planes. Returns the borrow beyond them, and the planes."""
    b1 = borrow & ~p0
    b2 = b1 & ~p1
    return b2 & ~p2, p0 ^ borrow, p1 ^ b1, p2 ^ b2


@inner
def load_planes(planes: Words, at: Index) -> tuple[Vector, Vector, Vector]:
    """The three planes from byte ``at`` on."""
    return load(planes, at), load(planes, at + BYTES), load(planes, at + 2 * BYTES)


# Many moves, in groups.


@inner
def _counts_at(group: Index) -> Index:
    """The byte at which the counts of a group begin, and later the lanes that choose it."""
    return (GROUP_ROWS + 5 * group) * BYTES


@inner
def begin_at(group: Index) -> Index:
    """The word that holds the byte at which a group's wires begin."""
    return (GROUP_ROWS + 5 * group + 4) * WORDS


@inner
def _add(a: Vector, b: Vector, c: Vector) -> tuple[Vector, Vector]:
    """The sum of three bits: its lower and its higher plane."""
    one = a ^ b
    return one ^ c, (a & b) | (one & c)


@inner
def count_groups(
    wires: Words, begin: Index, end: Index, planes: Words, groups: Words
) -> tuple[Vector, Index, Index]:
    """Count the lanes' legal moves into the first planes, and by groups. Returns the lanes with legal moves,
    the number of groups with legal moves, and the number of planes of the counts."""
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    eights = splat(0)
    some = splat(0)
    live = np.int64(0)
    top = np.int64(4)
    for at in range(begin, end, GROUP_BYTES):
        whole = at + GROUP_BYTES <= end
        if whole:
            a, b, c, d = _count_whole(wires, at)
        else:
            a, b, c, d = _count_part(wires, at, end)
        here = a | b | c | d
        if not any_lane(here):
            continue
        counts = _counts_at(live)
        store(groups, counts, a)
        store(groups, counts + BYTES, b)
        store(groups, counts + 2 * BYTES, c)
        store(groups, counts + 3 * BYTES, d)
        put(groups, begin_at(live), at)
        live += 1
        some = some | here
        carry = ones & a
        ones = ones ^ a
        twos, carry = _add(twos, b, carry)
        fours, carry = _add(fours, c, carry)
        eights, carry = _add(eights, d, carry)
        for plane in range(4 * BYTES, top * BYTES, BYTES):
            old = load(planes, plane)
            store(planes, plane, old ^ carry)
            carry = carry & old
        if any_lane(carry):
            store(planes, top * BYTES, carry)
            top += 1
    store(planes, 0, ones)
    store(planes, BYTES, twos)
    store(planes, 2 * BYTES, fours)
    store(planes, 3 * BYTES, eights)
    return some, live, top


@inner
def _count_whole(wires: Words, at: Index) -> tuple[Vector, Vector, Vector, Vector]:
    """Count the legal moves of a whole group, in four planes."""
    ones, a = _add(load(wires, at), load(wires, at + BYTES), load(wires, at + 2 * BYTES))
    ones, b = _add(ones, load(wires, at + 3 * BYTES), load(wires, at + 4 * BYTES))
    ones, c = _add(ones, load(wires, at + 5 * BYTES), load(wires, at + 6 * BYTES))
    twos, p = _add(a, b, c)
    ones, a = _add(ones, load(wires, at + 7 * BYTES), load(wires, at + 8 * BYTES))
    ones, b = _add(ones, load(wires, at + 9 * BYTES), load(wires, at + 10 * BYTES))
    twos, q = _add(twos, a, b)
    ones, a = _add(ones, load(wires, at + 11 * BYTES), load(wires, at + 12 * BYTES))
    ones, b = _add(ones, load(wires, at + 13 * BYTES), load(wires, at + 14 * BYTES))
    twos, r = _add(twos, a, b)
    fours, eights = _add(p, q, r)
    return ones, twos, fours, eights


@inner
def _count_part(wires: Words, at: Index, end: Index) -> tuple[Vector, Vector, Vector, Vector]:
    """Count the legal moves of a group that ends early, in four planes."""
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    eights = splat(0)
    for move in range(at, end, BYTES):
        ones, twos, fours, carry = count_move(load(wires, move), ones, twos, fours)
        eights = eights ^ carry
    return ones, twos, fours, eights


@inner
def choose_groups(planes: Words, ranks: Index, bits: Index, groups: Words, live: Index) -> None:
    """Count the ranks down by the groups' counts. Leaves in each group the lanes that choose it, and the
    lanes' ranks within the groups."""
    p0, p1, p2 = load_planes(planes, ranks)
    p3 = load(planes, ranks + 3 * BYTES)
    w0 = splat(0)
    w1 = splat(0)
    w2 = splat(0)
    w3 = splat(0)
    for group in range(live):
        at = _counts_at(group)
        q0, lent = _subtract(p0, load(groups, at), splat(0))
        q1, lent = _subtract(p1, load(groups, at + BYTES), lent)
        q2, lent = _subtract(p2, load(groups, at + 2 * BYTES), lent)
        q3, lent = _subtract(p3, load(groups, at + 3 * BYTES), lent)
        for plane in range(ranks + 4 * BYTES, ranks + bits * BYTES, BYTES):
            old = load(planes, plane)
            store(planes, plane, old ^ lent)
            lent = lent & ~old
        store(groups, at, lent)
        w0 = w0 | (p0 & lent)
        w1 = w1 | (p1 & lent)
        w2 = w2 | (p2 & lent)
        w3 = w3 | (p3 & lent)
        p0 = q0
        p1 = q1
        p2 = q2
        p3 = q3
    store(groups, GROUP * BYTES, w0)
    store(groups, (GROUP + 1) * BYTES, w1)
    store(groups, (GROUP + 2) * BYTES, w2)
    store(groups, (GROUP + 3) * BYTES, w3)


@inner
def _subtract(a: Vector, b: Vector, borrow: Vector) -> tuple[Vector, Vector]:
    """The difference of a bit and the sum of another bit and a borrow, and the new borrow."""
    other = a ^ b
    return other ^ borrow, (b & ~a) | (borrow & ~other)


@inner
def gather(wires: Words, end: Index, groups: Words, live: Index, whole: Index) -> None:
    """Copy in every lane the legality of the moves of its group. Only the first ``whole`` groups are
    complete."""
    for i in range(0, GROUP * BYTES, 5 * BYTES):
        a = splat(0)
        b = splat(0)
        c = splat(0)
        d = splat(0)
        e = splat(0)
        for group in range(whole):
            here = load(groups, _counts_at(group))
            at = np.int64(item(groups, begin_at(group))) + i
            a = a | (load(wires, at) & here)
            b = b | (load(wires, at + BYTES) & here)
            c = c | (load(wires, at + 2 * BYTES) & here)
            d = d | (load(wires, at + 3 * BYTES) & here)
            e = e | (load(wires, at + 4 * BYTES) & here)
        store(groups, i, a)
        store(groups, i + BYTES, b)
        store(groups, i + 2 * BYTES, c)
        store(groups, i + 3 * BYTES, d)
        store(groups, i + 4 * BYTES, e)
    if whole < live:
        here = load(groups, _counts_at(whole))
        at = np.int64(item(groups, begin_at(whole)))
        for i in range(0, end - at, BYTES):
            store(groups, i, load(groups, i) | (load(wires, at + i) & here))


@inner
def walk_group(groups: Words) -> None:
    """Count the ranks within groups down over the fifteen moves, which the choice then replaces."""
    p0, p1, p2 = load_planes(groups, np.int64(GROUP * BYTES))
    p3 = load(groups, (GROUP + 3) * BYTES)
    for at in range(0, GROUP * BYTES, BYTES):
        lent, p0, p1, p2 = count_down(load(groups, at), p0, p1, p2)
        store(groups, at, lent & ~p3)
        p3 = p3 ^ lent


@inner
def scatter(wires: Words, end: Index, groups: Words, live: Index, whole: Index) -> None:
    """Copy the choice to the moves of all groups."""
    for group in range(whole):
        here = load(groups, _counts_at(group))
        at = np.int64(item(groups, begin_at(group)))
        for i in range(0, GROUP * BYTES, BYTES):
            store(wires, at + i, load(groups, i) & here)
    if whole < live:
        here = load(groups, _counts_at(whole))
        at = np.int64(item(groups, begin_at(whole)))
        for i in range(0, end - at, BYTES):
            store(wires, at + i, load(groups, i) & here)

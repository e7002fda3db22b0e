"""Uniformly random moves for 512 lanes at once, without leaving the bit-sliced form.

Per role: the legal moves of every lane are counted by carry-save adders (Harley and Seal), a
rank below the count is drawn for every lane by rejection, and one walk over the role's moves
counts the ranks down: the move at which a lane's rank passes below zero is its choice. All
numbers are *planes*: bit k of a lane's number is that lane's bit of plane k.

Many moves are counted in groups of fifteen. Then the walk is one over groups, from whose counts the
ranks are counted down. Each lane copies the moves of the group that it has chosen to the same fifteen
vectors, a walk over these ends the choice for all lanes, and the groups copy it back. So a move costs
an AND and an OR each way, whatever the number of planes.

The scratch array ``planes`` is (3 * depth, 8) uint64: counts (then the highest rank), masks
for the draw, ranks (:func:`propnet.kernels.scratch.new_planes`). The scratch array ``groups`` is (20 + 5 *
groups, 8): fifteen moves, ranks among them (4), and for each group in which some lane has a legal move the
planes of its counts (4), of which the first becomes the lanes that choose it, and where it begins
(:func:`propnet.kernels.scratch.new_groups`).
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Ints, Offsets, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.planes import (
    add_bits,
    add_carry,
    count_down,
    count_fifteen,
    count_move,
    draw,
    highest_rank,
    load_planes,
    subtract_bits,
)
from propnet.jit.vector512 import BYTES, WORDS, any_lane, item, load, put, splat, store
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.scratch import GROUP, GROUP_ROWS
from propnet.rests import MOST_KEYS

FEW = 2 * GROUP
"""Moves of a role up to which there are no groups."""
_GROUP_BYTES = GROUP * BYTES
_REST = 2 + 2 * MOST_KEYS
"""Numbers per row of :attr:`propnet.kernels.kernel_args.KernelArgs.rests`."""


@inner
def legal_wires(args: KernelArgs, wires: Words, role: Index) -> tuple[Index, Index]:
    """Have the legality of a role's moves in the moves' own wires: the first of these, and the one behind
    the last."""
    sizes = sizes_of(args)
    first, last = np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))
    out = 1 + sizes.bases
    if sizes.legal_in_place == 0:
        copy_legal(wires, args.legal_offsets, args.legal_signs, first, last, out)
    return out + first, out + last


@inner
def choose_of_role(
    args: KernelArgs,
    wires: Words,
    planes: Words,
    groups: Words,
    depth: Index,
    role: Index,
    lanes: Vector,
    streams: Words,
) -> tuple[Vector, Vector]:
    """Choose a move of a role in all ``lanes``; in others the moves' wires mean nothing. Returns the lanes in
    which it has some, and those of ``lanes`` in which it has several.

    What holds in other lanes makes no difference to what is drawn: there machines may differ."""
    if rests(args, wires, role, lanes):
        return rest(args, wires, role), splat(0)
    first, last = legal_wires(args, wires, role)
    some = choose(wires, first, last, planes, groups, depth, lanes, streams)
    return some, load(planes, depth * BYTES)


@inner
def rests(args: KernelArgs, wires: Words, role: Index, lanes: Vector) -> bool:
    """Whether it is clear that a role has nothing to choose in these lanes."""
    return can_rest(args, role) and not any_lane(awake(args, wires, role) & lanes)


@inner
def can_rest(args: KernelArgs, role: Index) -> bool:
    """Whether it is known when a role rests."""
    return bool(item(args.rests, role * _REST + 1) > 0)


@inner
def awake(args: KernelArgs, wires: Words, role: Index) -> Vector:
    """The lanes in which a key of a role holds."""
    at = role * _REST
    some = splat(0)
    for place in range(at + 2, at + 2 + 2 * item(args.rests, at + 1), 2):
        some = some | (load(wires, item(args.rests, place)) ^ splat(item(args.rests, place + 1)))
    return some


@inner
def rest(args: KernelArgs, wires: Words, role: Index) -> Vector:
    """Have a role that rests make its waiting move: the lanes in which it may."""
    sizes = sizes_of(args)
    first = np.int64(item(args.role_moves, role))
    waiting = first + item(args.rests, role * _REST)
    out = 1 + sizes.bases
    if sizes.legal_in_place == 0:
        for move in range(first, np.int64(item(args.role_moves, role + 1))):
            store(wires, (out + move) * BYTES, splat(0))
        copy_legal(wires, args.legal_offsets, args.legal_signs, waiting, waiting + 1, out)
    return load(wires, (out + waiting) * BYTES)


@inner
def copy_legal(wires: Words, offsets: Offsets, signs: Ints, first: Index, last: Index, out: Index) -> None:
    """Copy the legality of the moves ``first <= m < last`` to their own wires ``out + m``; ``offsets`` and
    ``signs`` (moves,) say where it is read."""
    to = (out + first) * BYTES
    for move in range(first, last):
        store(wires, to, read_wire(wires, offsets, signs, move))
        to += BYTES


@inner
def choose(
    wires: Words,
    first: Index,
    last: Index,
    planes: Words,
    groups: Words,
    depth: Index,
    lanes: Vector,
    streams: Words,
) -> Vector:
    """Choose one of a role's legal moves at random in each of the ``lanes`` that has one, and any in others.

    The wires ``first <= w < last`` hold the legality of the moves, and then the lanes that chose them.
    ``depth`` is a third of the planes. Returns the lanes with some legal move.
    """
    begin = first * BYTES
    end = last * BYTES
    if last - first == 1:
        return load(wires, begin)
    if last - first <= FEW:
        some = _count(wires, begin, end, planes, depth)
        bits = highest_rank(planes, depth, depth, some & lanes)
        if bits > 0:
            draw(planes, depth, bits, some & lanes, streams)
            for plane in range(0, bits, 6):
                _walk(wires, begin, end, planes, (2 * depth + plane) * BYTES, bool(bits > 3))
        return some
    some, live, top = _count_groups(wires, begin, end, planes, groups)
    bits = highest_rank(planes, depth, top, some & lanes)
    if bits > 0:
        draw(planes, depth, bits, some & lanes, streams)
        _choose_groups(planes, 2 * depth * BYTES, bits, groups, live)
        whole = live
        if item(groups, _begin_at(live - 1)) + _GROUP_BYTES > end:
            whole -= 1
        _gather(wires, end, groups, live, whole)
        _walk_group(groups)
        _scatter(wires, end, groups, live, whole)
    return some


@inner
def _count(wires: Words, begin: Index, end: Index, planes: Words, depth: Index) -> Vector:
    """Count the lanes' legal moves into the first planes; returns the lanes with some."""
    for k in range(depth):
        store(planes, k * BYTES, splat(0))
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    some = splat(0)
    at = begin
    while at + 3 * BYTES < end:
        a = load(wires, at)
        b = load(wires, at + BYTES)
        c = load(wires, at + 2 * BYTES)
        d = load(wires, at + 3 * BYTES)
        some = some | a | b | c | d
        e = (a & b) | (ones & (a | b))
        ones = ones ^ a ^ b
        f = (c & d) | (ones & (c | d))
        ones = ones ^ c ^ d
        g = (e & f) | (twos & (e | f))
        twos = twos ^ e ^ f
        carry = fours & g
        fours = fours ^ g
        if any_lane(carry):
            add_carry(planes, 3 * BYTES, carry)
        at += 4 * BYTES
    while at < end:
        a = load(wires, at)
        some = some | a
        ones, twos, fours, carry = count_move(a, ones, twos, fours)
        if any_lane(carry):
            add_carry(planes, 3 * BYTES, carry)
        at += BYTES
    store(planes, 0, ones)
    store(planes, BYTES, twos)
    store(planes, 2 * BYTES, fours)
    return some


# The walks: subtract each move's wire from the ranks and leave the borrow in its place. What the
# top plane lends is the choice: the rank is then all ones, and too few legal moves are left to
# choose again. More than six planes take several walks, each borrowing from the one before.


@inner
def _walk(wires: Words, begin: Index, end: Index, planes: Words, ranks: Index, six: bool) -> None:
    p0, p1, p2 = load_planes(planes, ranks)
    p3, p4, p5 = load_planes(planes, ranks + 3 * BYTES)
    for at in range(begin, end, BYTES):
        lent, p0, p1, p2 = count_down(load(wires, at), p0, p1, p2)
        if six:
            lent, p3, p4, p5 = count_down(lent, p3, p4, p5)
        store(wires, at, lent)


# Many moves, in groups.


@inner
def _counts_at(group: Index) -> Index:
    """The byte at which the counts of a group begin, and later the lanes that choose it."""
    return (GROUP_ROWS + 5 * group) * BYTES


@inner
def _begin_at(group: Index) -> Index:
    """The word that holds the byte at which a group's wires begin."""
    return (GROUP_ROWS + 5 * group + 4) * WORDS


@inner
def _count_groups(
    wires: Words, begin: Index, end: Index, planes: Words, groups: Words
) -> tuple[Vector, Index, Index]:
    """Count the lanes' legal moves into the first planes, and by groups; returns the lanes with some, how
    many groups have some, and how many planes the counts have."""
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    eights = splat(0)
    some = splat(0)
    live = np.int64(0)
    top = np.int64(4)
    for at in range(begin, end, _GROUP_BYTES):
        whole = at + _GROUP_BYTES <= end
        if whole:
            a, b, c, d = count_fifteen(wires, at)
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
        put(groups, _begin_at(live), at)
        live += 1
        some = some | here
        carry = ones & a
        ones = ones ^ a
        twos, carry = add_bits(twos, b, carry)
        fours, carry = add_bits(fours, c, carry)
        eights, carry = add_bits(eights, d, carry)
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
def _count_part(wires: Words, at: Index, end: Index) -> tuple[Vector, Vector, Vector, Vector]:
    """The same for a group that ends early."""
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    eights = splat(0)
    for move in range(at, end, BYTES):
        ones, twos, fours, carry = count_move(load(wires, move), ones, twos, fours)
        eights = eights ^ carry
    return ones, twos, fours, eights


@inner
def _choose_groups(planes: Words, ranks: Index, bits: Index, groups: Words, live: Index) -> None:
    """Count the ranks down by the groups' counts: leave with each group the lanes that choose it, and the
    lanes' ranks within the groups."""
    p0, p1, p2 = load_planes(planes, ranks)
    p3 = load(planes, ranks + 3 * BYTES)
    w0 = splat(0)
    w1 = splat(0)
    w2 = splat(0)
    w3 = splat(0)
    for group in range(live):
        at = _counts_at(group)
        q0, lent = subtract_bits(p0, load(groups, at), splat(0))
        q1, lent = subtract_bits(p1, load(groups, at + BYTES), lent)
        q2, lent = subtract_bits(p2, load(groups, at + 2 * BYTES), lent)
        q3, lent = subtract_bits(p3, load(groups, at + 3 * BYTES), lent)
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
def _gather(wires: Words, end: Index, groups: Words, live: Index, whole: Index) -> None:
    """Copy in every lane the legality of the moves of its group; all but the last group may be ``whole``."""
    for i in range(0, GROUP * BYTES, 5 * BYTES):
        a = splat(0)
        b = splat(0)
        c = splat(0)
        d = splat(0)
        e = splat(0)
        for group in range(whole):
            here = load(groups, _counts_at(group))
            at = np.int64(item(groups, _begin_at(group))) + i
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
        at = np.int64(item(groups, _begin_at(whole)))
        for i in range(0, end - at, BYTES):
            store(groups, i, load(groups, i) | (load(wires, at + i) & here))


@inner
def _walk_group(groups: Words) -> None:
    """Count the ranks within groups down over the fifteen moves, and leave the choice in their place."""
    p0, p1, p2 = load_planes(groups, np.int64(GROUP * BYTES))
    p3 = load(groups, (GROUP + 3) * BYTES)
    for at in range(0, GROUP * BYTES, BYTES):
        lent, p0, p1, p2 = count_down(load(groups, at), p0, p1, p2)
        store(groups, at, lent & ~p3)
        p3 = p3 ^ lent


@inner
def _scatter(wires: Words, end: Index, groups: Words, live: Index, whole: Index) -> None:
    """Copy the choice to the moves of all groups."""
    for group in range(whole):
        here = load(groups, _counts_at(group))
        at = np.int64(item(groups, _begin_at(group)))
        for i in range(0, GROUP * BYTES, BYTES):
            store(wires, at + i, load(groups, i) & here)
    if whole < live:
        here = load(groups, _counts_at(whole))
        at = np.int64(item(groups, _begin_at(whole)))
        for i in range(0, end - at, BYTES):
            store(wires, at + i, load(groups, i) & here)

"""Uniformly random moves for 512 lanes at once, without leaving the bit-sliced form.

Per role: the legal moves of every lane are counted by carry-save adders (Harley and Seal), a
rank below the count is drawn for every lane by rejection, and one walk over the role's moves
counts the ranks down: the move at which a lane's rank passes below zero is its choice. All
numbers are *planes*: bit k of a lane's number is that lane's bit of plane k.

The scratch array ``planes`` is (3 * depth, 8) uint64: counts (then the highest rank), masks
for the draw, ranks (:func:`propnet.kernels.scratch.new_planes`).
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Ints, Offsets, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.random_numbers import advance
from propnet.jit.vector512 import BYTES, any_lane, item, load, splat, store
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of


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
def copy_legal(wires: Words, offsets: Offsets, signs: Ints, first: Index, last: Index, out: Index) -> None:
    """Copy the legality of the moves ``first <= m < last`` to their own wires ``out + m``; ``offsets`` and
    ``signs`` (moves,) say where it is read."""
    to = (out + first) * BYTES
    for move in range(first, last):
        store(wires, to, read_wire(wires, offsets, signs, move))
        to += BYTES


@inner
def choose(wires: Words, first: Index, last: Index, planes: Words, depth: Index, streams: Words) -> Vector:
    """Choose one of a role's legal moves in every lane that has one.

    The wires ``first <= w < last`` hold the legality of the moves, and then the lanes that chose them.
    ``depth`` is a third of the planes. Returns the lanes with some legal move.
    """
    begin = first * BYTES
    end = last * BYTES
    if last - first == 1:
        return load(wires, begin)
    some = _count(wires, begin, end, planes, depth)
    bits = highest_rank(planes, depth, some)
    if bits > 0:
        draw(planes, depth, bits, some, streams)
        for plane in range(0, bits, 6):
            _walk(wires, begin, end, planes, (2 * depth + plane) * BYTES, bool(bits > 3))
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


@inner
def count_move(
    legal: Vector, ones: Vector, twos: Vector, fours: Vector
) -> tuple[Vector, Vector, Vector, Vector]:
    """Count one more move in the lanes where it is legal: the three planes of the count, and the carry."""
    two = ones & legal
    four = twos & two
    return ones ^ legal, twos ^ two, fours ^ four, fours & four


@inner
def add_carry(planes: Words, at: Index, carry: Vector) -> Index:
    """Add a carry to the numbers whose planes begin at byte ``at``; the byte up to which planes changed."""
    while any_lane(carry):
        before = load(planes, at)
        store(planes, at, before ^ carry)
        carry = carry & before
        at += BYTES
    return at


@inner
def highest_rank(planes: Words, depth: Index, some: Vector) -> Index:
    """Turn counts into counts - 1 where there is a legal move; how many planes these need.

    The second planes become the masks for the draw: all bits up to the highest one."""
    borrow = some
    for k in range(depth):
        old = load(planes, k * BYTES)
        store(planes, k * BYTES, old ^ borrow)
        borrow = borrow & ~old
    bits: Index = 0
    mask = splat(0)
    for back in range(depth):
        plane = depth - 1 - back
        mask = mask | load(planes, plane * BYTES)
        store(planes, (depth + plane) * BYTES, mask)
        if bits == 0 and any_lane(mask):
            bits = plane + 1
    return bits


@inner
def draw(planes: Words, depth: Index, bits: Index, wanted: Vector, streams: Words) -> None:
    """Draw ranks from 0 to the highest rank, all equally likely, into the third planes.

    A lane draws as many random bits as its highest rank has, until they do not exceed it: less
    than two draws on average, and only lanes that must draw again take the new bits."""
    s0 = load(streams, 0)
    s1 = load(streams, BYTES)
    s2 = load(streams, 2 * BYTES)
    s3 = load(streams, 3 * BYTES)
    ranks = 2 * depth * BYTES
    for k in range(depth):
        store(planes, ranks + k * BYTES, splat(0))
    while any_lane(wanted):
        above = splat(0)
        for k in range(bits):
            random, s0, s1, s2, s3 = advance(s0, s1, s2, s3)
            highest = load(planes, k * BYTES)
            drawn = random & load(planes, (depth + k) * BYTES)
            above = (drawn & ~highest) | (above & ~(drawn ^ highest))
            at = ranks + k * BYTES
            store(planes, at, (load(planes, at) & ~wanted) | (drawn & wanted))
        wanted = wanted & above
    store(streams, 0, s0)
    store(streams, BYTES, s1)
    store(streams, 2 * BYTES, s2)
    store(streams, 3 * BYTES, s3)


# The walks: subtract each move's wire from the ranks and leave the borrow in its place. What the
# top plane lends is the choice: the rank is then all ones, and too few legal moves are left to
# choose again. More than six planes take several walks, each borrowing from the one before.


@inner
def count_down(borrow: Vector, p0: Vector, p1: Vector, p2: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Subtract a bit from ranks of three planes: what is lent beyond them, and the planes."""
    b1 = borrow & ~p0
    b2 = b1 & ~p1
    return b2 & ~p2, p0 ^ borrow, p1 ^ b1, p2 ^ b2


@inner
def _walk(wires: Words, begin: Index, end: Index, planes: Words, ranks: Index, six: bool) -> None:
    p0, p1, p2 = load_planes(planes, ranks)
    p3, p4, p5 = load_planes(planes, ranks + 3 * BYTES)
    for at in range(begin, end, BYTES):
        lent, p0, p1, p2 = count_down(load(wires, at), p0, p1, p2)
        if six:
            lent, p3, p4, p5 = count_down(lent, p3, p4, p5)
        store(wires, at, lent)


@inner
def load_planes(planes: Words, at: Index) -> tuple[Vector, Vector, Vector]:
    """The three planes from byte ``at`` on."""
    return load(planes, at), load(planes, at + BYTES), load(planes, at + 2 * BYTES)

"""Numbers of 512 lanes in planes: bit k of a lane's number is that lane's bit of plane k. Counting, drawing
numbers at random, counting down."""

from __future__ import annotations

from propnet.jit.arrays import Index, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.random_numbers import advance
from propnet.jit.vector512 import BYTES, any_lane, load, splat, store


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
def highest_rank(planes: Words, depth: Index, top: Index, some: Vector) -> Index:
    """Turn counts of ``top`` planes into counts - 1 in ``some`` lanes with a legal move, and into 0 in
    others; how many planes these need.

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


@inner
def count_down(borrow: Vector, p0: Vector, p1: Vector, p2: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Subtract a bit from ranks of three planes: what is lent beyond them, and the planes."""
    b1 = borrow & ~p0
    b2 = b1 & ~p1
    return b2 & ~p2, p0 ^ borrow, p1 ^ b1, p2 ^ b2


@inner
def load_planes(planes: Words, at: Index) -> tuple[Vector, Vector, Vector]:
    """The three planes from byte ``at`` on."""
    return load(planes, at), load(planes, at + BYTES), load(planes, at + 2 * BYTES)


@inner
def add_bits(a: Vector, b: Vector, c: Vector) -> tuple[Vector, Vector]:
    """The sum of three bits: its lower plane, and the higher one."""
    one = a ^ b
    return one ^ c, (a & b) | (one & c)


@inner
def subtract_bits(a: Vector, b: Vector, borrow: Vector) -> tuple[Vector, Vector]:
    """A bit less another bit and a borrow: the difference, and what is lent."""
    other = a ^ b
    return other ^ borrow, (b & ~a) | (borrow & ~other)


@inner
def count_fifteen(wires: Words, at: Index) -> tuple[Vector, Vector, Vector, Vector]:
    """How many of fifteen vectors, from byte ``at`` on, each lane is in: four planes."""
    ones, a = add_bits(load(wires, at), load(wires, at + BYTES), load(wires, at + 2 * BYTES))
    ones, b = add_bits(ones, load(wires, at + 3 * BYTES), load(wires, at + 4 * BYTES))
    ones, c = add_bits(ones, load(wires, at + 5 * BYTES), load(wires, at + 6 * BYTES))
    twos, p = add_bits(a, b, c)
    ones, a = add_bits(ones, load(wires, at + 7 * BYTES), load(wires, at + 8 * BYTES))
    ones, b = add_bits(ones, load(wires, at + 9 * BYTES), load(wires, at + 10 * BYTES))
    twos, q = add_bits(twos, a, b)
    ones, a = add_bits(ones, load(wires, at + 11 * BYTES), load(wires, at + 12 * BYTES))
    ones, b = add_bits(ones, load(wires, at + 13 * BYTES), load(wires, at + 14 * BYTES))
    twos, r = add_bits(twos, a, b)
    fours, eights = add_bits(p, q, r)
    return ones, twos, fours, eights

"""Weighted random moves for 512 lanes at once, without leaving the bit-sliced form.

Moves that weigh the same, 2**e, form a class (:class:`propnet.kernels.move_weights.Policy`). Per role and
lane the legal moves of each class are counted and the counts, moved up by e planes, are summed: the lane's
total weight. One rank below it is drawn (:mod:`propnet.kernels.uniform_choice`). Subtracting the classes'
weights one after the other tells the class in which the rank falls, and the rank's planes from e on are
then the rank among the class's legal moves, uniform again: a walk over the moves as for equal weights ends
the choice. So moves are chosen exactly in proportion to their weights, and what it costs above the uniform
choice depends on the number of classes, hardly on that of moves.

The scratch array ``planes`` is (13 * depth + 40, 8) uint64, with :func:`new_weighted_planes`: the
total weight, masks and ranks (3 * top rows, top <= depth + 8, as in :mod:`propnet.kernels.uniform_choice`;
room for 3 * (depth + 8)), the difference while a class is subtracted (depth + 8), ranks within the classes
(depth), the counts of eight classes (depth each), and which lanes chose each of them (8). ``widths`` is
(8,) int64: how many planes each class's counts need.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, Index, aligned, any_lane, item, load, put, splat, store
from propnet.kernels.kernel_args import Code
from propnet.kernels.move_weights import HEAVIEST, Policy
from propnet.kernels.uniform_choice import choose_in_place, copy_legal, draw, highest_rank

_CLASSES = HEAVIEST + 1


def new_weighted_planes(most: int) -> NDArray[np.uint64]:
    """Scratch space for roles of up to this many moves."""
    return aligned(13 * (most.bit_length() // 6 + 1) * 6 + 40)


@inner
def choose_by_policy(
    code: Code,
    policy: Policy,
    wires: NDArray[np.uint64],
    planes: NDArray[np.uint64],
    depth: Index,
    widths: NDArray[np.int64],
    uniform_planes: NDArray[np.uint64],
    streams: NDArray[np.uint64],
    choosing: NDArray[np.uint64],
) -> Any:
    """Choose a move for every role by a policy; the rest is as in
    :func:`propnet.kernels.step.choose_moves`. ``depth`` is that of both arrays of planes."""
    out = 1 + item(code.sizes, 0)
    in_place = item(code.sizes, 7) != 0
    offsets = code.legal_offsets
    signs = code.legal_signs
    stuck = splat(0)
    for role in range(item(code.sizes, 9)):
        first = np.int64(item(code.role_moves, role))
        last = np.int64(item(code.role_moves, role + 1))
        if not in_place:
            copy_legal(wires, offsets, signs, first, last, out)
        low = np.int64(item(policy.role_classes, role))
        high = np.int64(item(policy.role_classes, role + 1))
        if high - low <= 1:
            some = choose_in_place(wires, first, last, out, uniform_planes, depth, streams)
            store(choosing, role * BYTES, load(uniform_planes, depth * BYTES))
        else:
            some = choose_weighted(wires, policy, low, high, out, planes, depth, widths, streams)
            store(choosing, role * BYTES, load(planes, _chosen(depth, np.int64(0))))
        stuck = stuck | ~some
    return stuck


@inner
def _counts(depth: Index, place: Index) -> Any:
    """Byte offset of the counts of the class with this place among the role's."""
    return (4 * (depth + 8) + depth + place * depth) * BYTES


@inner
def _chosen(depth: Index, place: Index) -> Any:
    """Byte offset of the lanes that chose this class."""
    return (4 * (depth + 8) + depth + _CLASSES * depth + place) * BYTES


@inner
def choose_weighted(
    wires: NDArray[np.uint64],
    policy: Policy,
    low: Index,
    high: Index,
    out: int,
    planes: NDArray[np.uint64],
    depth: Index,
    widths: NDArray[np.int64],
    streams: NDArray[np.uint64],
) -> Any:
    """Choose among the moves of the classes ``low <= c < high`` whose legality the wires ``out + m``
    hold; returns the lanes with some legal move."""
    some = splat(0)
    several = splat(0)
    for at in range(0, (depth + 8) * BYTES, BYTES):
        store(planes, at, splat(0))
    top = np.int64(0)
    for c in range(low, high):
        counts = _counts(depth, c - low)
        width = _count_class(wires, policy, c, out, planes, counts, depth)
        put(widths, c - low, width)
        if width > 0:
            here = load(planes, counts)
            more = splat(0)
            for k in range(1, width):
                more = more | load(planes, counts + k * BYTES)
            here = here | more
            several = several | more | (some & here)
            some = some | here
            top = max(top, _add(planes, counts, width, np.int64(item(policy.classes, 3 * c + 2))))
    if any_lane(several):
        bits = highest_rank(planes, top, some)
        draw(planes, top, bits, some, streams)
        most = _choose_class(policy, low, high, planes, depth, widths, 2 * top * BYTES, bits, some)
        ranks = 4 * (depth + 8) * BYTES
        if most <= 3:
            _walk3(wires, policy, low, high, out, planes, ranks, _chosen(depth, np.int64(0)))
        else:
            for plane in range(0, most, 6):
                chunk = ranks + plane * BYTES
                _walk6(wires, policy, low, high, out, planes, chunk, _chosen(depth, np.int64(0)))
    # The place of the lanes that chose the first class is free now.
    store(planes, _chosen(depth, np.int64(0)), several)
    return some


@inner
def _count_class(
    wires: NDArray[np.uint64],
    policy: Policy,
    c: Index,
    out: int,
    planes: NDArray[np.uint64],
    counts: Index,
    depth: Index,
) -> Any:
    """Count the lanes' legal moves of a class; returns how many planes the counts need."""
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    for k in range(3, depth):
        store(planes, counts + k * BYTES, splat(0))
    for i in range(item(policy.classes, 3 * c), item(policy.classes, 3 * c + 1)):
        legal = load(wires, (out + item(policy.order, i)) * BYTES)
        carry = ones & legal
        ones = ones ^ legal
        more = twos & carry
        twos = twos ^ carry
        carry = fours & more
        fours = fours ^ more
        at = counts + 3 * BYTES
        while any_lane(carry):
            old = load(planes, at)
            store(planes, at, old ^ carry)
            carry = carry & old
            at += BYTES
    store(planes, counts, ones)
    store(planes, counts + BYTES, twos)
    store(planes, counts + 2 * BYTES, fours)
    width = np.int64(depth)
    while width > 0 and not any_lane(load(planes, counts + (width - 1) * BYTES)):
        width -= 1
    return width


@inner
def _add(planes: NDArray[np.uint64], counts: Index, width: Any, exponent: Any) -> Any:
    """Add a class's weight to the total; returns how many planes of the total it changed at most."""
    carry = splat(0)
    at = exponent * BYTES
    for k in range(width):
        a = load(planes, at)
        b = load(planes, counts + k * BYTES)
        store(planes, at, a ^ b ^ carry)
        carry = (a & b) | (carry & (a | b))
        at += BYTES
    while any_lane(carry):
        old = load(planes, at)
        store(planes, at, old ^ carry)
        carry = carry & old
        at += BYTES
    return at // BYTES


@inner
def _choose_class(
    policy: Policy,
    low: Index,
    high: Index,
    planes: NDArray[np.uint64],
    depth: Index,
    widths: NDArray[np.int64],
    ranks: Any,
    bits: Any,
    undecided: Any,
) -> Any:
    """Subtract the classes' weights from the ranks until these pass below zero: note the lanes that
    chose each class, and their ranks in it. Returns how many planes these need."""
    lesser = 3 * (depth + 8) * BYTES
    within = 4 * (depth + 8) * BYTES
    for k in range(depth):
        store(planes, within + k * BYTES, splat(0))
    most = np.int64(0)
    for c in range(low, high):
        counts = _counts(depth, c - low)
        width = item(widths, c - low)
        exponent = np.int64(item(policy.classes, 3 * c + 2))
        borrow = splat(0)
        if width > 0 and any_lane(undecided):
            for k in range(bits - exponent):
                a = load(planes, ranks + (exponent + k) * BYTES)
                b = borrow
                if k < width:
                    count = load(planes, counts + k * BYTES)
                    b = count ^ borrow
                    borrow = (borrow & count) | (~a & (borrow | count))
                else:
                    borrow = borrow & ~a
                store(planes, lesser + k * BYTES, a ^ b)
            # A class may weigh 2**bits, more than any rank.
            for k in range(max(np.int64(0), bits - exponent), width):
                borrow = borrow | load(planes, counts + k * BYTES)
            borrow = borrow & undecided
            undecided = undecided & ~borrow
            for k in range(bits - exponent):
                at = ranks + (exponent + k) * BYTES
                if k < width:
                    to = within + k * BYTES
                    store(planes, to, load(planes, to) | (load(planes, at) & borrow))
                store(planes, at, load(planes, lesser + k * BYTES))
            most = max(most, width)
        store(planes, _chosen(depth, c - low), borrow)
    return most


# The walks are those of :mod:`propnet.kernels.uniform_choice`, class by class: the planes that a lane's
# moves of other classes leave alone are none of theirs.


@inner
def _walk3(
    wires: NDArray[np.uint64],
    policy: Policy,
    low: Index,
    high: Index,
    out: int,
    planes: NDArray[np.uint64],
    ranks: Index,
    chosen: Index,
) -> None:
    p0 = load(planes, ranks)
    p1 = load(planes, ranks + BYTES)
    p2 = load(planes, ranks + 2 * BYTES)
    for c in range(low, high):
        here = load(planes, chosen + (c - low) * BYTES)
        for i in range(item(policy.classes, 3 * c), item(policy.classes, 3 * c + 1)):
            at = (out + item(policy.order, i)) * BYTES
            b0 = load(wires, at) & here
            b1 = b0 & ~p0
            b2 = b1 & ~p1
            b3 = b2 & ~p2
            p0 = p0 ^ b0
            p1 = p1 ^ b1
            p2 = p2 ^ b2
            store(wires, at, b3)


@inner
def _walk6(
    wires: NDArray[np.uint64],
    policy: Policy,
    low: Index,
    high: Index,
    out: int,
    planes: NDArray[np.uint64],
    ranks: Index,
    chosen: Index,
) -> None:
    p0 = load(planes, ranks)
    p1 = load(planes, ranks + BYTES)
    p2 = load(planes, ranks + 2 * BYTES)
    p3 = load(planes, ranks + 3 * BYTES)
    p4 = load(planes, ranks + 4 * BYTES)
    p5 = load(planes, ranks + 5 * BYTES)
    for c in range(low, high):
        here = load(planes, chosen + (c - low) * BYTES)
        for i in range(item(policy.classes, 3 * c), item(policy.classes, 3 * c + 1)):
            at = (out + item(policy.order, i)) * BYTES
            b0 = load(wires, at) & here
            b1 = b0 & ~p0
            b2 = b1 & ~p1
            b3 = b2 & ~p2
            b4 = b3 & ~p3
            b5 = b4 & ~p4
            b6 = b5 & ~p5
            p0 = p0 ^ b0
            p1 = p1 ^ b1
            p2 = p2 ^ b2
            p3 = p3 ^ b3
            p4 = p4 ^ b4
            p5 = p5 ^ b5
            store(wires, at, b6)

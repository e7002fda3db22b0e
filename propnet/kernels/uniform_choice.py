"""Uniformly random moves for 512 lanes at once, without leaving the bit-sliced form.

Per role the legal moves of every lane are counted by carry-save adders (Harley and Seal), and a rank below
the count is drawn for every lane by rejection. One walk over the role's moves then counts the ranks down: the
move at which a lane's rank passes below zero is its choice. All numbers are *planes*: bit k of a lane's
number is that lane's bit of plane k.

Many moves are counted in groups of fifteen. The walk then goes over groups, whose counts are subtracted from
the ranks. Each lane copies the moves of the group that it has chosen to the same fifteen vectors, a walk over
these ends the choice for all lanes, and the groups copy it back. So a move costs an AND and an OR each way,
for any number of planes.

The scratch array ``planes`` is (3 * depth, 8) uint64: counts (then the highest rank), masks for the draw,
ranks (:func:`propnet.kernels.scratch.new_planes`). The scratch array ``groups`` is (20 + 5 * groups, 8):
fifteen moves, ranks among them (4), and for each group with a legal move in some lane the planes of its
counts (4), of which the first becomes the lanes that choose it, and the place at which it begins
(:func:`propnet.kernels.scratch.new_groups`).
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Index, Ints, Offsets, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, any_lane, item, load, splat, store
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.move_counts import (
    GROUP_BYTES,
    add_carry,
    begin_at,
    choose_groups,
    count_down,
    count_groups,
    count_move,
    draw,
    gather,
    highest_rank,
    load_planes,
    scatter,
    walk_group,
)
from propnet.kernels.scratch import GROUP
from propnet.rests import MOST_KEYS

FEW = 2 * GROUP
"""The number of a role's moves up to which there are no groups."""
_REST = 2 + 2 * MOST_KEYS
"""Numbers per row of :attr:`propnet.kernels.kernel_args.KernelArgs.rests`."""


@inner
def legal_wires(args: KernelArgs, wires: Words, role: Index) -> tuple[Index, Index]:
    """Bring the legality of a role's moves into the moves' own wires. Returns the first of these wires, and
    the one after the last."""
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
    """Choose a move of a role in all ``lanes``; in others the moves' wires are undefined. Returns the lanes
    in which it has legal moves, and those of ``lanes`` in which it has several.

    The draws do not depend on other lanes: there machines may differ."""
    if rests(args, wires, role, lanes):
        return rest(args, wires, role), splat(0)
    first, last = legal_wires(args, wires, role)
    some = choose(wires, first, last, planes, groups, depth, lanes, streams)
    return some, load(planes, depth * BYTES)


@inner
def rests(args: KernelArgs, wires: Words, role: Index, lanes: Vector) -> bool:
    """Whether it is clear that a role has no choice in these lanes."""
    return can_rest(args, role) and not any_lane(awake(args, wires, role) & lanes)


@inner
def can_rest(args: KernelArgs, role: Index) -> bool:
    """Whether the condition under which a role rests is known."""
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
    """Let a role that rests make its waiting move. Returns the lanes in which that move is legal."""
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
    """Copy the legality of the moves ``first <= m < last`` to their own wires ``out + m``, from the wires at
    ``offsets``, negated according to ``signs`` (moves,)."""
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

    The wires ``first <= w < last`` hold the legality of the moves, and afterwards the lanes that chose them.
    ``depth`` is a third of the planes. Returns the lanes with legal moves.
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
    some, live, top = count_groups(wires, begin, end, planes, groups)
    bits = highest_rank(planes, depth, top, some & lanes)
    if bits > 0:
        draw(planes, depth, bits, some & lanes, streams)
        choose_groups(planes, 2 * depth * BYTES, bits, groups, live)
        whole = live
        if item(groups, begin_at(live - 1)) + GROUP_BYTES > end:
            whole -= 1
        gather(wires, end, groups, live, whole)
        walk_group(groups)
        scatter(wires, end, groups, live, whole)
    return some


@inner
def _count(wires: Words, begin: Index, end: Index, planes: Words, depth: Index) -> Vector:
    """Count the lanes' legal moves into the first planes; return the lanes with legal moves."""
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
def _walk(wires: Words, begin: Index, end: Index, planes: Words, ranks: Index, six: bool) -> None:
    p0, p1, p2 = load_planes(planes, ranks)
    p3, p4, p5 = load_planes(planes, ranks + 3 * BYTES)
    for at in range(begin, end, BYTES):
        lent, p0, p1, p2 = count_down(load(wires, at), p0, p1, p2)
        if six:
            lent, p3, p4, p5 = count_down(lent, p3, p4, p5)
        store(wires, at, lent)

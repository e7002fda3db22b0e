"""Weighted random moves for 512 lanes at once, without leaving the bit-sliced form, by a :class:`Policy`: a
weight for every move.

Moves that weigh the same, 2**e, form a class (:class:`_WeightClass`). Per role and lane the kernel counts the
legal moves of each class, shifts the counts up by e planes and sums them to the lane's total weight. It draws
a rank below that (:mod:`propnet.kernels.uniform_choice`) and subtracts the classes' weights one after
another, which gives the class of the rank. The rank's planes from e on are then a uniform rank among the
class's legal moves, and a walk over these ends the choice. So moves are chosen exactly in proportion to their
weights. The additional cost over the uniform choice grows with the number of classes, hardly with that of
moves.

The scratch array ``planes`` is (13 * depth + 40, 8) uint64
(:func:`propnet.kernels.scratch.new_weighted_planes`): the total weight, masks and ranks (3 * top rows, top <=
depth + 8, as in :mod:`propnet.kernels.uniform_choice`; space for 3 * (depth + 8)), the difference while a
class is subtracted (depth + 8), ranks within the classes (depth), the counts of eight classes (depth each),
and the lanes that chose each of them (8). ``widths`` is (8,) int64: the number of planes of each class's
counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from propnet.jit.arrays import Index, Int32s, Ints, Octets, Vector, Words
from propnet.jit.decorators import inner
from propnet.jit.vector512 import BYTES, any_lane, item, load, put, splat, store
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.move_counts import add_carry, count_down, count_move, draw, highest_rank, load_planes
from propnet.kernels.scratch import HEAVIEST, Scratch
from propnet.kernels.uniform_choice import choose_of_role, legal_wires, rests


class Policy(NamedTuple):
    """Weights of moves, by classes of moves that weigh the same.

    ``order``, int32 (moves,), holds the moves of all roles, role by role, those of a role sorted by
    weight. ``classes``, int32 (classes, 3), has rows of :class:`_WeightClass`. ``role_classes``, int32
    (roles + 1,), holds the number of each role's first class. Without classes the choice is uniform.
    """

    order: Int32s
    classes: Int32s
    role_classes: Int32s


class _WeightClass(NamedTuple):
    """Moves that weigh 2**exponent: those at the places ``first <= i < end`` in :attr:`Policy.order`."""

    first: Index
    end: Index
    exponent: Index


def policy_of(exponents: Octets, role_moves: Int32s) -> Policy:
    """The policy by which a role makes each of its legal moves with a probability proportional to the move's
    weight, 2**exponent. ``exponents``, uint8 (moves,), 0 to :data:`HEAVIEST`, are numbered on from role to
    role. ``role_moves``, int32 (roles + 1,), holds the number of each role's first move. Raises ValueError if
    there is not one exponent for each move, or one is too large."""
    if exponents.shape != (role_moves[-1],):
        raise ValueError(f"{exponents.shape} exponents for {role_moves[-1]} moves")
    if exponents.size and exponents.max() > HEAVIEST:
        raise ValueError(f"an exponent is {exponents.max()}, but the largest allowed is {HEAVIEST}")
    roles = len(role_moves) - 1
    owner = np.repeat(np.arange(roles), np.diff(role_moves))
    kind = owner * (HEAVIEST + 1) + exponents
    order = np.argsort(kind, kind="stable")
    kinds, first = np.unique(kind[order], return_index=True)
    bounds = np.append(first, len(order))
    classes = [
        _WeightClass(low, high, k % (HEAVIEST + 1))
        for (low, high), k in zip(pairwise(bounds), kinds, strict=True)
    ]
    begins = np.searchsorted(kinds, np.arange(roles + 1) * (HEAVIEST + 1))
    return Policy(order.astype(np.int32), np.array(classes, np.int32).reshape(-1, 3), begins.astype(np.int32))


UNIFORM = Policy(np.zeros(0, np.int32), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
"""Every legal move with the same probability."""


@inner
def _class_of(policy: Policy, number: Index) -> _WeightClass:
    """A row of the classes."""
    at = 3 * number
    rows = policy.classes
    return _WeightClass(item(rows, at), item(rows, at + 1), np.int64(item(rows, at + 2)))


_CLASSES = HEAVIEST + 1


class RoleChoice(NamedTuple):
    """A choice among the moves of the classes ``low <= c < high``. The wires ``out + m`` hold their legality;
    ``planes`` and ``widths`` are the scratch described in the module."""

    wires: Words
    policy: Policy
    low: Index
    high: Index
    out: Index
    planes: Words
    depth: Index
    widths: Ints


@inner
def choose_by_policy(
    args: KernelArgs,
    policy: Policy,
    scratch: Scratch,
    depth: Index,
    widths: Ints,
    lanes: Vector,
    streams: Words,
    choosing: Words,
) -> Vector:
    """Choose a move for every role by a policy; otherwise as in :func:`propnet.kernels.step.choose_moves`.
    ``depth`` is that of both arrays of planes."""
    sizes = sizes_of(args)
    wires, planes, groups = scratch.wires, scratch.planes, scratch.groups
    stuck = splat(0)
    for role in range(sizes.roles):
        low = np.int64(item(policy.role_classes, role))
        high = np.int64(item(policy.role_classes, role + 1))
        if high - low <= 1 or rests(args, wires, role, lanes):
            some, several = choose_of_role(args, wires, planes, groups, depth, role, lanes, streams)
        else:
            legal_wires(args, wires, role)
            out = 1 + sizes.bases
            choice = RoleChoice(wires, policy, low, high, out, scratch.weighted_planes, depth, widths)
            some, several = choose_weighted(choice, lanes, streams)
        store(choosing, role * BYTES, several)
        stuck = stuck | ~some
    return stuck


# Byte offsets of the parts of the planes, in the order of the module's docstring.


@inner
def _within(depth: Index) -> Index:
    """The ranks within the classes."""
    return 4 * (depth + _CLASSES) * BYTES


@inner
def _counts(depth: Index, place: Index) -> Index:
    """The counts of the class with this place among the role's classes."""
    return _within(depth) + (1 + place) * depth * BYTES


@inner
def _chosen(depth: Index, place: Index) -> Index:
    """The lanes that chose this class."""
    return _counts(depth, np.int64(_CLASSES)) + place * BYTES


@inner
def choose_weighted(choice: RoleChoice, lanes: Vector, streams: Words) -> tuple[Vector, Vector]:
    """Choose a move in these lanes. Returns all lanes with legal moves, and those with several."""
    low, high, planes, depth = choice.low, choice.high, choice.planes, choice.depth
    some = splat(0)
    several = splat(0)
    for k in range(depth + _CLASSES):
        store(planes, k * BYTES, splat(0))
    top: Index = np.int64(0)
    for c in range(low, high):
        counts = _counts(depth, c - low)
        width = _count_class(choice, c, counts)
        put(choice.widths, c - low, width)
        if width > 0:
            here = load(planes, counts)
            more = splat(0)
            for k in range(1, width):
                more = more | load(planes, counts + k * BYTES)
            here = here | more
            several = several | more | (some & here)
            some = some | here
            top = max(top, _add(planes, counts, width, _class_of(choice.policy, c).exponent))
    if any_lane(several & lanes):
        bits = highest_rank(planes, top, top, some & lanes)
        draw(planes, top, bits, some & lanes, streams)
        most = _choose_class(choice, 2 * top * BYTES, bits, some)
        for plane in range(0, most, 6):
            _walk(choice, _within(depth) + plane * BYTES, bool(most > 3))
    return some, several


@inner
def _count_class(choice: RoleChoice, number: Index, counts: Index) -> Index:
    """Count the lanes' legal moves of a class. Returns the number of planes that the counts need."""
    planes = choice.planes
    ones = splat(0)
    twos = splat(0)
    fours = splat(0)
    for k in range(3, choice.depth):
        store(planes, counts + k * BYTES, splat(0))
    members = _class_of(choice.policy, number)
    for i in range(members.first, members.end):
        legal = load(choice.wires, (choice.out + item(choice.policy.order, i)) * BYTES)
        ones, twos, fours, carry = count_move(legal, ones, twos, fours)
        add_carry(planes, counts + 3 * BYTES, carry)
    store(planes, counts, ones)
    store(planes, counts + BYTES, twos)
    store(planes, counts + 2 * BYTES, fours)
    width = np.int64(choice.depth)
    while width > 0 and not any_lane(load(planes, counts + (width - 1) * BYTES)):
        width -= 1
    return width


@inner
def _add(planes: Words, counts: Index, width: Index, exponent: Index) -> Index:
    """Add a class's weight to the total. Returns the most planes of the total that changed."""
    carry = splat(0)
    at = exponent * BYTES
    for k in range(width):
        a = load(planes, at)
        b = load(planes, counts + k * BYTES)
        store(planes, at, a ^ b ^ carry)
        carry = (a & b) | (carry & (a | b))
        at += BYTES
    return add_carry(planes, at, carry) // BYTES


@inner
def _choose_class(choice: RoleChoice, ranks: Index, bits: Index, undecided: Vector) -> Index:
    """Subtract the classes' weights from the ranks until these pass below zero, and record the lanes that
    chose each class and their ranks in it. Returns the number of planes that these need."""
    low, planes, depth = choice.low, choice.planes, choice.depth
    within = _within(depth)
    lesser = within - (depth + _CLASSES) * BYTES
    for k in range(depth):
        store(planes, within + k * BYTES, splat(0))
    most = np.int64(0)
    for c in range(low, choice.high):
        counts = _counts(depth, c - low)
        width = item(choice.widths, c - low)
        exponent = _class_of(choice.policy, c).exponent
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


# The walk is that of :mod:`propnet.kernels.uniform_choice`, class by class: only the lanes that chose a class
# count down over its moves.


@inner
def _walk(choice: RoleChoice, ranks: Index, six: bool) -> None:
    p0, p1, p2 = load_planes(choice.planes, ranks)
    p3, p4, p5 = load_planes(choice.planes, ranks + 3 * BYTES)
    for c in range(choice.low, choice.high):
        here = load(choice.planes, _chosen(choice.depth, c - choice.low))
        members = _class_of(choice.policy, c)
        for i in range(members.first, members.end):
            at = (choice.out + item(choice.policy.order, i)) * BYTES
            lent, p0, p1, p2 = count_down(load(choice.wires, at) & here, p0, p1, p2)
            if six:
                lent, p3, p4, p5 = count_down(lent, p3, p4, p5)
            store(choice.wires, at, lent)

"""Dead sets that contain no smaller dead set, by box and keeper side.

A dead set is listed with each of its boxes p, and each direction d for which it is dead with the keeper on
p's neighbour. Then a push of a box to p by a keeper from there is lost. A set is left out if a subset is dead
with the keeper on the same square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.deadsets.squares import BoxSquares, rank
from propnet.jit.arrays import Index, Int32s, Ints, Words
from propnet.jit.decorators import ARENA, inner, kernel
from propnet.jit.vector512 import lowest_bit


class Family(NamedTuple):
    """Sets by slot. A set lies within the boxes if the slot's square and all partners have boxes.

    Attributes:
        starts: int64, shape (slots + 1,): the first set of each slot.
        partners: int16, shape (sets, K - 1): numbers of squares, ascending; the sets of a slot in lexical
        order.
    """

    starts: Ints
    partners: NDArray[np.int16]


def player_family(squares: BoxSquares, size: int, alive: Words, smaller: Words | None) -> Family:
    """Return the minimal dead sets of ``size`` boxes in slots 4 p + d: box p, the keeper on its neighbour in
    direction d.

    ``alive`` and ``smaller`` are the rows of :func:`~.alive.alive_sets` for
    sets of ``size`` and of ``size - 1`` boxes.
    """
    found = _collect(_player_sets, squares, size, alive, smaller)
    return in_slots(found[:, 0], found[:, 1:], 4 * len(squares.squares))


def box_family(squares: BoxSquares, size: int, alive: Words, smaller: Words | None) -> Family:
    """Return the minimal sets that are dead for every place of the keeper, in slots by box."""
    found = _collect(_box_sets, squares, size, alive, smaller)
    slots = np.concatenate([found[:, i] for i in range(size)])
    partners = np.concatenate([np.delete(found, i, axis=1) for i in range(size)])
    return in_slots(slots, partners, len(squares.squares))


def in_slots(slots: Int32s, partners: Int32s, count: int) -> Family:
    """Return a family of these sets: ``slots``, shape (sets,), and ``partners``, shape (sets, K - 1),
    ascending."""
    order = np.lexsort((*partners.T[::-1], slots))
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(slots, minlength=count), out=starts[1:])
    return Family(starts, partners[order].astype(np.int16))


def _collect(find: object, squares: BoxSquares, size: int, alive: Words, smaller: Words | None) -> Int32s:
    """Call a kernel until its results fit."""
    if smaller is None:
        smaller = np.zeros((1, squares.words), np.uint64)
    room = 1 << 12
    scratch = np.zeros((4, 8), np.int64), np.zeros((2, len(squares.numbers)), np.int32)
    while True:
        found = np.zeros((room, size), np.int32)
        count = find(squares, size, alive, smaller, found, *scratch)  # type: ignore[operator]
        if count <= room:
            return found[:count]
        room = count


@inner
def _alive(
    choose: Ints, alive: Words, members: Ints, count: Index, skip: Index, side: Index, base: Ints
) -> bool:
    """Return whether the set ``members[:count]``, ascending, is alive with the keeper on the side of its
    member ``members[side >> 2]`` in direction ``side & 3``. Another member, ``members[skip]``, is the further
    box."""
    at = 0
    place = 0
    for i in range(count):
        if i == side >> 2:
            place = at
        if i != skip:
            base[at] = members[i]
            at += 1
    row = 4 * (count - 1) * rank(choose, base, count - 1) + 4 * place + (side & 3)
    return bool(alive[row, members[skip] >> 6] >> np.uint64(members[skip] & 63) & np.uint64(1))


@inner
def _alive_from(
    squares: BoxSquares, alive: Words, members: Ints, count: Index, start: Index, base: Ints, room: Int32s
) -> bool:
    """Return whether the set ``members[:count]`` is alive with the keeper on the geometry's square ``start``.
    ``room``: int32, shape (2, size + 1), marks (0 between calls) and a queue."""
    neighbours = squares.neighbours
    outside = len(neighbours) - 1
    marks, queue = room[0], room[1]
    for i in range(count):
        marks[squares.squares[members[i]]] = 2 + i
    queue[0] = start
    marks[start] = 1
    head, tail = 0, 1
    side = np.int64(-1)
    while head < tail and side < 0:
        square = queue[head]
        head += 1
        for direction in range(4):
            there = neighbours[square, direction]
            if there == outside or marks[there] == 1:
                continue
            if marks[there]:
                side = 4 * (np.int64(marks[there]) - 2) + (direction ^ 2)
                break
            marks[there] = 1
            queue[tail] = there
            tail += 1
    for i in range(tail):
        marks[queue[i]] = 0
    for i in range(count):
        marks[squares.squares[members[i]]] = 0
    if side < 0:
        return True  # cannot happen: every connected region touches a box
    if count == 1:
        return not squares.dead_sides[members[0]] >> (side & 3) & 1
    return _alive(squares.choose, alive, members, count, 0 if side >> 2 else 1, side, base)


@inner
def _first(count: Index, members: Ints) -> None:
    """Set ``members`` to the first set in lexical order."""
    for i in range(count):
        members[i] = i


@inner
def _next(n: Index, count: Index, members: Ints) -> bool:
    """Advance ``members`` to the next set in lexical order. Returns whether there is one."""
    i = count - 1
    while i >= 0 and members[i] == n - count + i:
        i -= 1
    if i < 0:
        return False
    members[i] += 1
    for j in range(i + 1, count):
        members[j] = members[j - 1] + 1
    return True


@kernel(**ARENA)
def _player_sets(
    squares: BoxSquares, size: Index, alive: Words, smaller: Words, found: Int32s, scratch: Ints, room: Int32s
) -> int:
    """Fill ``found`` with slot and partners of each minimal dead set. Returns their number, which may exceed
    the space."""
    choose, neighbours, numbers = squares.choose, squares.neighbours, squares.numbers
    outside = len(neighbours) - 1
    n = len(squares.squares)
    count = size - 1
    members, partners, base = scratch[0], scratch[1], scratch[2]
    total = 0
    if n < size:
        return 0
    _first(count, members)
    more = True
    while more:
        at = rank(choose, members, count)
        for side in range(4 * count):
            i, direction = side >> 2, side & 3
            box = members[i]
            keeper = neighbours[squares.squares[box], direction]
            if keeper == outside or squares.dead_sides[box] >> direction & 1:
                continue
            valid = True
            for j in range(count):
                if squares.squares[members[j]] == keeper:
                    valid = False
            last = members[count - 1] if i < count - 1 or count == 1 else members[count - 2]
            if count == 1:
                last = np.int64(-1)
            if not valid:
                continue
            if count > 1 and not _alive(choose, smaller, members, count, 1 if i == 0 else 0, side, base):
                continue
            for j in range(count):
                if j != i:
                    partners[j if j < i else j - 1] = members[j]
            for w in range(max(last, 0) >> 6, alive.shape[1]):
                left = ~alive[4 * count * at + side, w]
                if w == last >> 6 and last >= 0:
                    left &= ~np.uint64(0) << np.uint64(last & 63)
                if w == (n - 1) >> 6:
                    left &= ~np.uint64(0) >> np.uint64(63 - ((n - 1) & 63))
                for skip in range(count):
                    if skip == i:
                        continue
                    low = 0
                    for j in range(count):
                        if j != skip:
                            base[low] = members[j]
                            low += 1
                    place = i if i < skip else i - 1
                    left &= smaller[
                        4 * (count - 1) * rank(choose, base, count - 1) + 4 * place + direction, w
                    ]
                while left:
                    further = 64 * w + lowest_bit(left)
                    left &= left - np.uint64(1)
                    if further == numbers[keeper] or box == further or last == further:
                        continue
                    partners[count - 1] = further
                    if not _alive_from(squares, smaller, partners, count, keeper, base, room):
                        continue
                    if total < len(found):
                        found[total, 0] = 4 * box + direction
                        for j in range(count):
                            found[total, 1 + j] = partners[j]
                    total += 1
        more = _next(n, count, members)
    return total


@inner
def _alive_somewhere(
    squares: BoxSquares, alive: Words, members: Ints, count: Index, leave: Index, kept: Ints, base: Ints
) -> bool:
    """Return whether the set ``members[:count]`` without ``members[leave]`` is alive for some keeper; -1
    removes none."""
    left = 0
    for i in range(count):
        if i != leave:
            kept[left] = members[i]
            left += 1
    if left == 1:
        return True
    for side in range(4 * left):
        if _alive(squares.choose, alive, kept, left, 0 if side >> 2 else 1, side, base):
            return True
    return False


@kernel(**ARENA)
def _box_sets(
    squares: BoxSquares, size: Index, alive: Words, smaller: Words, found: Int32s, scratch: Ints, room: Int32s
) -> int:
    """Fill ``found`` with the minimal sets that are dead for every keeper."""
    choose = squares.choose
    n = len(squares.squares)
    count = size - 1
    members, part, base = scratch[0], scratch[1], scratch[2]
    total = 0
    if n < size:
        return 0
    _first(count, members)
    more = True
    while more:
        at = 4 * count * rank(choose, members, count)
        last = members[count - 1]
        for w in range(last >> 6, alive.shape[1]):
            left = ~np.uint64(0)
            for side in range(4 * count):
                left &= ~alive[at + side, w]
            if w == last >> 6:
                left &= ~np.uint64(0) << np.uint64(last & 63)
            if w == (n - 1) >> 6:
                left &= ~np.uint64(0) >> np.uint64(63 - ((n - 1) & 63))
            while left:
                further = 64 * w + lowest_bit(left)
                left &= left - np.uint64(1)
                if further == last:
                    continue
                members[count] = further
                minimal = not _alive_somewhere(squares, alive, members, size, -1, part, base)
                if minimal and size > 2:
                    for i in range(size):
                        minimal = minimal and _alive_somewhere(squares, smaller, members, size, i, part, base)
                if minimal:
                    if total < len(found):
                        for j in range(size):
                            found[total, j] = members[j]
                    total += 1
        more = _next(n, count, members)
    return total

"""The inner loop of the search for a separation: expand an arrangement, keep those not seen before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inner, kernel

FREE = 1 << 14
"""Steps that a piece may take that nothing is in the way of."""


@inner
def measure(
    cells: NDArray[np.int32],
    owner: NDArray[np.int32],
    kinds: NDArray[np.int32],
    places: NDArray[np.int16],
    ways: NDArray[np.int32],
    swept: NDArray[np.int32],
    now: NDArray[np.int32],
    gaps: NDArray[np.int16],
) -> None:
    """Fill ``gaps``.

    Only the first cell in each cell's way is looked at: what lies behind it is in that one's way, so the
    groups that :func:`pushed` tells are the same.

    Args:
        cells: int32[cells, 3], as in the assembly.
        owner, kinds: int32[cells]: the piece and the kind of each.
        places: int16[pieces, 3]: how far each piece has moved.
        ways: int32[ways, 3]: one step of each way.
        swept: int32[ways, kinds, most, 3]: what a cell passes through in that step.
        now: int32[cells, 3]: room for where the cells are.
        gaps: int16[ways, pieces, pieces]: for each ordered pair the steps that the first may take along
            the way while the second stays; FREE where it never meets it, or another before.
    """
    low, high = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for axis in range(3):
        low[axis], high[axis] = 1 << 30, -(1 << 30)
        for a in range(len(cells)):
            at = cells[a, axis] + places[owner[a], axis]
            now[a, axis] = at
            low[axis], high[axis] = min(low[axis], at), max(high[axis], at)
    size = high - low + 1
    box = np.full(size[0] * size[1] * size[2], -1, np.int8)
    for a in range(len(cells)):
        x, y, z = now[a, 0] - low[0], now[a, 1] - low[1], now[a, 2] - low[2]
        box[(x * size[1] + y) * size[2] + z] = owner[a]
    gaps[:] = FREE
    for w in range(len(ways)):
        for a in range(len(cells)):
            i = owner[a]
            for s in range(swept.shape[2]):
                x = now[a, 0] - low[0] + swept[w, kinds[a], s, 0]
                y = now[a, 1] - low[1] + swept[w, kinds[a], s, 1]
                z = now[a, 2] - low[2] + swept[w, kinds[a], s, 2]
                steps = 0
                # A ray may begin beside the box and run into it.
                while -2 <= x < size[0] + 2 and -2 <= y < size[1] + 2 and -2 <= z < size[2] + 2:
                    if 0 <= x < size[0] and 0 <= y < size[1] and 0 <= z < size[2]:
                        j = box[(x * size[1] + y) * size[2] + z]
                        if j >= 0:
                            if j != i and steps < gaps[w, i, j]:
                                gaps[w, i, j] = steps
                            break
                    x += ways[w, 0]
                    y += ways[w, 1]
                    z += ways[w, 2]
                    steps += 1


@inner
def pushed(gaps: NDArray[np.int16], piece: int, steps: int) -> np.uint64:
    """The pieces that must move as well, one bit each, where this one moves so many steps."""
    one = np.uint64(1)
    group = one << np.uint64(piece)
    waiting = group
    pieces = len(gaps)
    while waiting:
        for i in range(pieces):
            bit = one << np.uint64(i)
            if waiting & bit:
                waiting ^= bit
                for j in range(pieces):
                    other = one << np.uint64(j)
                    if gaps[i, j] < steps and not group & other:
                        group |= other
                        waiting |= other
    return group


UNDERWAY, SEPARATED, STUCK, OUT_OF_ROOM = range(4)

MOST_GROUPS = 1024
"""Groups that can move together are unions of those that single pieces push: so many of them are tried at
each distance."""


@inner
def _hash(places: NDArray[np.int16]) -> np.uint64:
    value = np.uint64(0x9E3779B97F4A7C15)
    for i in range(1, len(places)):
        for axis in range(3):
            value ^= np.uint64(places[i, axis] + 32768)
            value *= np.uint64(0xFF51AFD7ED558CCD)
            value ^= value >> np.uint64(29)
    return value


@inner
def _slot(table: NDArray[np.int32], places: NDArray[np.int16], new: NDArray[np.int16]) -> int:
    """Where the arrangement stands in the hash table, or where it would."""
    mask = len(table) - 1
    at = np.int64(_hash(new) & np.uint64(mask))
    while table[at] >= 0:
        known = places[table[at]]
        equal = True
        for i in range(len(new)):
            for axis in range(3):
                if known[i, axis] != new[i, axis]:
                    equal = False
        if equal:
            break
        at = (at + 1) & mask
    return int(at)


@inner
def _groups(gaps: NDArray[np.int16], steps: int, groups: NDArray[np.uint64]) -> int:
    """All groups that can move so many steps, but not all pieces; returns how many."""
    pieces = len(gaps)
    whole = ~np.uint64(0) >> np.uint64(64 - pieces)
    count = 0
    for piece in range(pieces):
        group = pushed(gaps, piece, steps)
        if group == whole:
            continue
        before = count
        for k in range(-1, before):
            union = group if k < 0 else group | groups[k]
            if union == whole or count == len(groups):
                continue
            known = False
            for other in range(count):
                if groups[other] == union:
                    known = True
                    break
            if not known:
                groups[count] = union
                count += 1
    return count


@inner
def _farthest(gaps: NDArray[np.int16]) -> int:
    """The steps after which nothing new is in the way."""
    most = 0
    for i in range(len(gaps)):
        for j in range(len(gaps)):
            if i != j and gaps[i, j] != FREE and gaps[i, j] > most:
                most = gaps[i, j]
    return most


@kernel(nogil=True)
def search(
    cells: NDArray[np.int32],
    owner: NDArray[np.int32],
    kinds: NDArray[np.int32],
    ways: NDArray[np.int32],
    swept: NDArray[np.int32],
    places: NDArray[np.int16],
    parents: NDArray[np.int32],
    moved: NDArray[np.uint64],
    moves: NDArray[np.int16],
    table: NDArray[np.int32],
    sizes: NDArray[np.int64],
    budget: int,
) -> int:
    """Go on by so many arrangements at most.

    Args:
        cells, owner, kinds: int32[cells, 3], int32[cells], int32[cells]: each piece's cells.
        ways, swept: int32[ways, 3], int32[ways, kinds, most, 3].
        places: int16[room, pieces, 3]: the arrangements found, in order of their moves; piece 0 has not
            moved.
        parents: int32[room]: what each was made from; -1 for the first.
        moved: uint64[room]: the pieces that were moved, one bit each.
        moves: int16[room, 3]: how far.
        table: int32[a power of two]: arrangements by hash, -1 where there is none; filled anew after it has
            grown.
        sizes: int64[3]: arrangements expanded, found, and in the table.

    Returns UNDERWAY, SEPARATED (the last arrangement's move takes its group out), STUCK (no arrangement is
    left) or OUT_OF_ROOM (give larger arrays with the same contents).
    """
    pieces = places.shape[1]
    gaps = np.empty((len(ways), pieces, pieces), np.int16)
    now = np.empty((len(cells), 3), np.int32)
    groups = np.empty(MOST_GROUPS, np.uint64)
    new = np.empty((pieces, 3), np.int16)
    one = np.uint64(1)
    if sizes[1] == 0:
        sizes[1] = 1
    if table[_slot(table, places, places[0])] < 0:
        for known in range(sizes[1]):
            table[_slot(table, places, places[known])] = known
    for _ in range(budget):
        if sizes[0] == sizes[1]:
            return STUCK
        at = sizes[0]
        made = sizes[1]
        measure(cells, owner, kinds, places[at], ways, swept, now, gaps)
        # A group that goes out ends the search: look for it before what else there is.
        for out in (True, False):
            for w in range(len(ways)):
                last = _farthest(gaps[w]) + 1
                for steps in range(last if out else 1, last + 1 if out else last):
                    count = _groups(gaps[w], steps, groups)
                    if count == 0:
                        break
                    for g in range(count):
                        group = groups[g]
                        if made == len(places):
                            return OUT_OF_ROOM
                        if not out:
                            shift = steps if group & one else 0
                            for i in range(pieces):
                                own = steps if group >> np.uint64(i) & one else 0
                                for axis in range(3):
                                    new[i, axis] = places[at, i, axis] + (own - shift) * ways[w, axis]
                            slot = _slot(table, places, new)
                            if table[slot] >= 0:
                                continue
                            table[slot] = made
                            places[made] = new
                        parents[made] = at
                        moved[made] = group
                        for axis in range(3):
                            moves[made, axis] = ways[w, axis] * (1 if out else steps)
                        made += 1
                        if out:
                            sizes[1] = made
                            return SEPARATED
                        sizes[1] = made
        sizes[0] = at + 1
    return UNDERWAY

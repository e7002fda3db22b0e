"""All dead patterns of boxes in windows of 4 by 4 squares, by exhaustive retrograde analysis, in seconds.

    python -m bench.sokoban.patterns

writes them to the table that :mod:`players.puzzles.sokoban.deadlocks.patterns` reads.
"""

from __future__ import annotations

import zlib

import numpy as np

from players.puzzles.sokoban.deadlocks.patterns import (
    ALL,
    CELLS,
    INNER,
    OUT,
    PATH,
    RIM,
    cells_around,
    part_of,
    spread,
    symmetries,
)
from propnet.jit.arrays import Index, Ints, Octets
from propnet.jit.decorators import inner, kernel


def minimal_patterns() -> Ints:
    """Return all minimal dead positions up to symmetry: int64, shape (patterns, 3): masks of walls and of
    boxes, and the parts of the keeper with which it is dead, bits 0 to 4. Bits of inner squares that lead out
    equal bit 0."""
    around = cells_around()
    turned, parts = symmetries()
    first = turned.min(axis=0)
    thirds = np.zeros(ALL + 1, np.int64)
    for cell in range(CELLS):
        thirds += (np.arange(ALL + 1) >> cell & 1) * 3**cell
    dead = np.zeros(3**CELLS, np.uint8)
    walls = np.flatnonzero(first == np.arange(ALL + 1))
    _solve(walls, around, thirds, dead)
    found = np.zeros((1 << 14, 3), np.int64)
    count = _minimal(walls, turned, parts, np.argmin(turned, axis=0), thirds, dead, found)
    assert count <= len(found)
    return found[:count].copy()


@inner
def _can_win(boxes: Index, part: Index, free: Index, around: Ints, alive: Octets) -> bool:
    """Return whether one push leads to a position that is known to be alive. ``free``: all squares but the
    walls."""
    now = free & ~boxes
    region = spread(now & RIM if part == 0 else np.int64(1) << INNER[part - 1], now)
    for cell in range(CELLS):
        if not boxes >> cell & 1:
            continue
        for way in range(4):
            behind, ahead = around[cell, way ^ 2], around[cell, way]
            if (part != 0) if behind == OUT else not region >> behind & 1:
                continue
            after = boxes & ~(np.int64(1) << cell)
            if ahead != OUT:
                if not now >> ahead & 1:
                    continue
                after |= np.int64(1) << ahead
            if alive[after] >> part_of(cell, free & ~after) & 1:
                return True
    return False


@kernel
def _solve(walls: Ints, around: Ints, thirds: Ints, dead: Octets) -> None:
    """Fill ``dead``, shape (3**16,), with bits of the keeper's parts. Its index is twice the ``thirds`` of
    the walls plus those of the boxes."""
    alive = np.zeros(ALL + 1, np.uint8)
    for wall in walls:
        free = ALL & ~wall
        alive[:] = 0
        alive[0] = 31
        changed = True
        while changed:
            changed = False
            boxes = (wall + 1) & free
            while boxes:
                now = free & ~boxes
                lead_out = spread(now & RIM, now)
                for part in range(5):
                    if alive[boxes] >> part & 1:
                        continue
                    if part:
                        cell = INNER[part - 1]
                        if not (now & ~lead_out) >> cell & 1 or part_of(cell, now) != part:
                            continue
                    if _can_win(boxes, part, free, around, alive):
                        alive[boxes] |= 1 << part
                        changed = True
                boxes = ((boxes | wall) + 1) & free
        boxes = (wall + 1) & free
        while boxes:
            now = free & ~boxes
            bits = 0
            for part in range(5):
                if part == 0 or now >> INNER[part - 1] & 1:
                    same = 0 if part == 0 else part_of(INNER[part - 1], now)
                    if not alive[boxes] >> same & 1:
                        bits |= 1 << part
            dead[2 * thirds[wall] + thirds[boxes]] = bits
            boxes = ((boxes | wall) + 1) & free


@kernel
def _minimal(
    walls: Ints, turned: Ints, parts: Ints, turn: Ints, thirds: Ints, dead: Octets, found: Ints
) -> int:
    """Write all minimal positions to ``found``. Returns their number."""
    count = 0
    for wall in walls:
        free = ALL & ~wall
        boxes = (wall + 1) & free
        while boxes:
            first = True
            for number in range(8):
                first &= turned[number, wall] != wall or turned[number, boxes] >= boxes
            bits = 0
            for part in range(5):
                if first and _is_minimal(wall, boxes, part, turned, parts, turn, thirds, dead):
                    bits |= 1 << part
            if bits:
                if count < len(found):
                    found[count, 0] = wall
                    found[count, 1] = boxes
                    found[count, 2] = bits
                count += 1
            boxes = ((boxes | wall) + 1) & free
    return count


@inner
def _is_minimal(
    wall: Index, boxes: Index, part: Index, turned: Ints, parts: Ints, turn: Ints, thirds: Ints, dead: Octets
) -> bool:
    if not _is_dead(wall, boxes, part, turned, parts, turn, thirds, dead):
        return False
    for cell in range(CELLS):
        bit = np.int64(1) << cell
        if wall & bit and _is_dead(wall & ~bit, boxes, part, turned, parts, turn, thirds, dead):
            return False
        if boxes & bit and _is_dead(wall, boxes & ~bit, part, turned, parts, turn, thirds, dead):
            return False
    return True


@inner
def _is_dead(
    wall: Index, boxes: Index, part: Index, turned: Ints, parts: Ints, turn: Ints, thirds: Ints, dead: Octets
) -> bool:
    number = turn[wall]
    place = 2 * thirds[turned[number, wall]] + thirds[turned[number, boxes]]
    return bool(dead[place] >> parts[number, part] & 1)


def pack(patterns: Ints) -> bytes:
    """Return the contents of the file for these patterns."""
    return zlib.compress(np.ascontiguousarray(patterns.T, "<u2").tobytes(), 9)


if __name__ == "__main__":
    PATH.write_bytes(pack(minimal_patterns()))

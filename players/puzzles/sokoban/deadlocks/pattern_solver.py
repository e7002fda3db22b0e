"""All positions in a window of 4 by 4 squares that cannot be emptied, by exhaustive retrograde analysis, and
the table of them that is stored in this package.

Around the window everything is free. A position is dead if not all boxes can be pushed out of it. Squares of
the window are numbered row by row; a mask has a bit for each. The keeper is in part 0 if he can walk out of
the window, else in part 1 to 4: one more than the place among INNER of the first such square that he can get
to. (Squares at the rim always lead out.)

Positions are minimal if no wall or box can be taken away. There are 1,127, up to turning and mirroring.
``python -m players.puzzles.sokoban.deadlocks.pattern_solver`` computes the table anew and writes it, in
seconds.
"""

from __future__ import annotations

import functools
import zlib
from pathlib import Path

import numpy as np

from players.puzzles.sokoban.geometry import STEPS
from propnet.jit.arrays import Index, Ints, Octets
from propnet.jit.decorators import inner, kernel

CELLS = 16
ALL = (1 << CELLS) - 1
INNER = 5, 6, 9, 10
RIM = ALL & ~sum(1 << cell for cell in INNER)
_NOT_LEFT = sum(1 << cell for cell in range(CELLS) if cell % 4)
_NOT_RIGHT = sum(1 << cell for cell in range(CELLS) if cell % 4 != 3)
_OUT = CELLS


def minimal_patterns() -> Ints:
    """All minimal dead positions up to symmetry: int64, shape (patterns, 3): masks of walls and of boxes, and
    the keeper's parts that it is dead with, bit 0 to 4; bits of inner squares that lead out say the same as
    bit 0."""
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


def cells_around() -> Ints:
    """The squares beside each of a window, 16 for those out of it: int64, shape (16, 4)."""
    cells = np.full((CELLS, 4), _OUT, np.int64)
    for cell in range(CELLS):
        for way, (dy, dx) in enumerate(STEPS):
            y, x = cell // 4 + dy, cell % 4 + dx
            if 0 <= y < 4 and 0 <= x < 4:
                cells[cell, way] = 4 * y + x
    return cells


def symmetries() -> tuple[Ints, Ints]:
    """What turning and mirroring makes of each mask, shape (8, 65536), and of each part, shape (8, 5)."""
    masks, parts = np.zeros((8, ALL + 1), np.int64), np.zeros((8, 5), np.int64)
    for number in range(8):
        turned = np.rot90(np.arange(CELLS).reshape(4, 4), number % 4)
        cells = (turned[:, ::-1] if number >= 4 else turned).ravel().tolist()
        for cell in range(CELLS):
            masks[number] |= (np.arange(ALL + 1) >> cell & 1) << cells[cell]
        parts[number, 1:] = [1 + INNER.index(cells[cell]) for cell in INNER]
    return masks, parts


@inner
def spread(mask: Index, free: Index) -> Index:
    """All that hangs together with the squares of a mask, on free ones."""
    while True:
        wider = mask | mask << 4 | mask >> 4 | (mask & _NOT_RIGHT) << 1 | (mask & _NOT_LEFT) >> 1
        wider &= free
        if wider == mask:
            return mask
        mask = wider


@inner
def part_of(cell: Index, free: Index) -> Index:
    """The part that a keeper on this square is in."""
    region = spread(np.int64(1) << cell, free)
    if not region & RIM:
        for number in range(4):
            if region >> INNER[number] & 1:
                return number + 1
    return 0


@inner
def _can_win(boxes: Index, part: Index, free: Index, around: Ints, alive: Octets) -> bool:
    """Whether one push leads to a position that is known to be alive. ``free``: all but the walls."""
    now = free & ~boxes
    region = spread(now & RIM if part == 0 else np.int64(1) << INNER[part - 1], now)
    for cell in range(CELLS):
        if not boxes >> cell & 1:
            continue
        for way in range(4):
            behind, ahead = around[cell, way ^ 2], around[cell, way]
            if (part != 0) if behind == _OUT else not region >> behind & 1:
                continue
            after = boxes & ~(np.int64(1) << cell)
            if ahead != _OUT:
                if not now >> ahead & 1:
                    continue
                after |= np.int64(1) << ahead
            if alive[after] >> part_of(cell, free & ~after) & 1:
                return True
    return False


@kernel
def _solve(walls: Ints, around: Ints, thirds: Ints, dead: Octets) -> None:
    """Fill ``dead``, shape (3**16,): bits of the keeper's parts, by twice the ``thirds`` of the walls and
    those of the boxes."""
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
    """Write all minimal positions to ``found``; returns how many there are."""
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


PATH = Path(__file__).with_name("patterns_4x4.bin")
"""Columns of 16-bit numbers, packed by zlib."""


def pack(patterns: Ints) -> bytes:
    """What the file holds for these patterns."""
    return zlib.compress(np.ascontiguousarray(patterns.T, "<u2").tobytes(), 9)


@functools.cache
def patterns_up_to_symmetry() -> Ints:
    """int64, shape (patterns, 3): masks of walls and boxes, and the keeper's parts, as
    :func:`players.puzzles.sokoban.deadlocks.pattern_solver.minimal_patterns` finds them."""
    columns = np.frombuffer(zlib.decompress(PATH.read_bytes()), "<u2").reshape(3, -1)
    return np.ascontiguousarray(columns.T, np.int64)


if __name__ == "__main__":
    PATH.write_bytes(pack(minimal_patterns()))

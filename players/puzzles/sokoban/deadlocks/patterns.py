"""Deadlock patterns: boxes within 4 by 4 squares that cannot all leave them, and cannot all rest there.

The minimal patterns are laid over every window of a level, once. Each matching pattern is stored with each of
its boxes, as a mask of the 7 by 7 squares around: a query reads these squares once and compares masks.

The patterns are all positions in a window of 4 by 4 squares that cannot be emptied. Their table is stored in
this package; ``python -m bench.sokoban.patterns`` finds them by retrograde analysis and writes it.

Around the window everything is free. A position is dead if not all boxes can be pushed out of it. Squares of
the window are numbered row by row; a mask has a bit for each. The keeper is in part 0 if he can walk out of
the window. Otherwise he is in part 1 to 4: one more than the place among INNER of the first such square that
he can reach. (Squares at the rim always lead out.)

Positions are minimal if no wall or box can be removed. There are 1,127, up to rotation and reflection.
"""

from __future__ import annotations

import functools
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from players.puzzles.sokoban.board import BOXED, Board
from players.puzzles.sokoban.geometry import STEPS, Geometry
from propnet.jit.arrays import Index, Int32s, Ints, Words
from propnet.jit.decorators import inner, kernel

CELLS = 16
ALL = (1 << CELLS) - 1
INNER = 5, 6, 9, 10
RIM = ALL & ~sum(1 << cell for cell in INNER)
_NOT_LEFT = sum(1 << cell for cell in range(CELLS) if cell % 4)
_NOT_RIGHT = sum(1 << cell for cell in range(CELLS) if cell % 4 != 3)
OUT = CELLS


def cells_around() -> Ints:
    """Return the neighbours of each square of a window, 16 for those outside: int64, shape (16, 4)."""
    cells = np.full((CELLS, 4), OUT, np.int64)
    for cell in range(CELLS):
        for way, (dy, dx) in enumerate(STEPS):
            y, x = cell // 4 + dy, cell % 4 + dx
            if 0 <= y < 4 and 0 <= x < 4:
                cells[cell, way] = 4 * y + x
    return cells


def symmetries() -> tuple[Ints, Ints]:
    """Return the images of each mask under rotations and reflections, shape (8, 65536), and of each part,
    shape (8, 5)."""
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
    """Return all squares connected to the squares of a mask over free ones."""
    while True:
        wider = mask | mask << 4 | mask >> 4 | (mask & _NOT_RIGHT) << 1 | (mask & _NOT_LEFT) >> 1
        wider &= free
        if wider == mask:
            return mask
        mask = wider


@inner
def part_of(cell: Index, free: Index) -> Index:
    """Return the part of a keeper on this square."""
    region = spread(np.int64(1) << cell, free)
    if not region & RIM:
        for number in range(4):
            if region >> INNER[number] & 1:
                return number + 1
    return 0


PATH = Path(__file__).with_name("patterns_4x4.bin")
"""Columns of 16-bit numbers, packed by zlib."""


@functools.cache
def patterns_up_to_symmetry() -> Ints:
    """Return the stored patterns, int64, shape (patterns, 3): masks of walls and boxes, and the keeper's
    parts."""
    columns = np.frombuffer(zlib.decompress(PATH.read_bytes()), "<u2").reshape(3, -1)
    return np.ascontiguousarray(columns.T, np.int64)


_NEAR = 49
_ONLY_THERE = np.uint64(1 << 63)


class Patterns(NamedTuple):
    """The patterns that fit into a level, by square.

    Attributes:
        near: int32, shape (size + 1, 49): the squares around each square, row by row, ``size`` if there is
            none.
        starts: int32, shape (size + 2,): the first pattern of each square.
        masks: uint64, shape (rows, 2): bits of the squares around; column 0 the pattern's boxes, column 1 the
            squares where the keeper must not be. With bit 63 set he must be on one of them.
    """

    near: Int32s
    starts: Int32s
    masks: Words


@inner
def is_pattern_deadlock(board: Board, patterns: Patterns, square: Index, keeper: Index) -> bool:
    """Return whether the box just pushed to this square completes a pattern. ``keeper``: his exact square."""
    if patterns.starts[square] == patterns.starts[square + 1]:
        return False
    boxes, here = np.uint64(0), np.uint64(0)
    for number in range(_NEAR):
        there = patterns.near[square, number]
        boxes |= np.uint64(board.occupied[there] == BOXED) << np.uint64(number)
        here |= np.uint64(there == keeper) << np.uint64(number)
    masks = patterns.masks
    for row in range(patterns.starts[square], patterns.starts[square + 1]):
        if masks[row, 0] & ~boxes == 0 and ((masks[row, 1] & here) != 0) == (masks[row, 1] >= _ONLY_THERE):
            return True
    return False


def new_patterns(geometry: Geometry) -> Patterns:
    """Return the patterns of a level."""
    size = geometry.size
    places = geometry.places - (geometry.places.min(axis=0) if size else 0) + 3
    grid = np.full(places.max(axis=0, initial=0) + 4, size, np.int32)
    grid[places[:, 0], places[:, 1]] = np.arange(size)
    around = [(y, x) for y in range(-3, 4) for x in range(-3, 4)]
    near = np.full((size + 1, _NEAR), size, np.int32)
    for number, (y, x) in enumerate(around):
        near[:size, number] = grid[places[:, 0] + y, places[:, 1] + x]
    tops = [(y, x) for y in range(grid.shape[0] - 3) for x in range(grid.shape[1] - 3)]
    windows = np.array([grid[y : y + 4, x : x + 4].ravel() for y, x in tops], np.int32).reshape(-1, CELLS)
    bits = 1 << np.arange(CELLS)
    goals = np.zeros(size + 1, np.int64)
    goals[geometry.goals] = 1
    kinds, kind = np.unique(
        np.stack([(windows == size) @ bits, goals[windows] @ bits], axis=1), axis=0, return_inverse=True
    )
    fits = np.zeros((len(kinds), _MOST, 3), np.int64)
    counts = np.zeros(len(kinds), np.int64)
    _fit(kinds, _variants(), cells_around(), fits, counts)
    rows = _rows(windows, kind.reshape(-1).astype(np.int64), fits, counts)
    rows = rows[np.lexsort(rows.T[::-1])]
    if len(rows):
        rows = rows[np.append(True, (rows[1:] != rows[:-1]).any(axis=1))]
    starts = np.searchsorted(rows[:, 0], np.arange(size + 2, dtype=np.uint64)).astype(np.int32)
    return Patterns(near, starts, np.ascontiguousarray(rows[:, 1:]))


_MOST = 4096
"""The most patterns that fit into one window; more are left out."""


@functools.cache
def _variants() -> Ints:
    """Return all patterns under rotations and reflections: int64, shape (variants, 4): boxes, walls, the
    squares where the keeper must not be, or must be, and whether it is the latter."""
    turned, parts = symmetries()
    walls, boxes, bits = patterns_up_to_symmetry().T
    there = np.zeros((8, len(bits)), np.int64)
    for part in range(5):
        there |= (bits >> part & 1) << parts[:, part, None]
    rows = np.stack([turned[:, boxes], turned[:, walls], there, there & 1], axis=2).reshape(-1, 4)
    rows = np.unique(rows, axis=0)
    _turn_to_squares(rows)
    return rows


@kernel
def _turn_to_squares(variants: Ints) -> None:
    """Turn the keeper's parts into squares, in place."""
    for row in range(len(variants)):
        boxes, walls, parts, _ = variants[row]
        free = ALL & ~walls & ~boxes
        closed = free & ~spread(free & RIM, free)
        spots = np.int64(0)
        for number in range(len(INNER)):
            if parts >> (number + 1) & 1:
                spots |= np.int64(1) << INNER[number]
        only = 1 - (parts & 1)
        variants[row, 2] = closed & (spots if only else ~spots)
        variants[row, 3] = only


@kernel
def _fit(kinds: Ints, variants: Ints, around: Ints, fits: Ints, counts: Ints) -> None:
    """Find the patterns for each kind of window, a mask of walls and one of goals. ``fits``, shape (kinds,
    most, 3), receives masks of boxes and of the keeper's squares, and 1 if he must be there."""
    seen = np.zeros((5, ALL + 1), np.int32)
    stack = np.zeros((5 * (ALL + 1), 2), np.int32)
    stamp = np.int64(0)
    for kind in range(len(kinds)):
        walls, goals = kinds[kind]
        count = 0
        for row in range(len(variants)):
            boxes, wall, there, only = variants[row]
            if wall & ~walls or boxes & walls or count == fits.shape[1]:
                continue
            if goals:
                stamp += 1
                if only or _can_rest(wall, boxes, goals, around, seen, stamp, stack):
                    continue
                free = ALL & ~wall & ~boxes
                there = free & ~spread(free & RIM, free)
            fits[kind, count, 0] = boxes
            fits[kind, count, 1] = there
            fits[kind, count, 2] = only
            count += 1
        counts[kind] = _without_supersets(fits[kind], count)


@inner
def _without_supersets(fits: Ints, count: Index) -> Index:
    """Remove patterns that contain all boxes of another pattern that holds for every place of the keeper."""
    count_left = 0
    for row in range(count):
        # Earlier rows that were removed were supersets of others that are still there.
        needed = True
        for other in range(count):
            always = fits[other, 1] == 0 and fits[other, 2] == 0
            if always and other != row and fits[other, 0] & ~fits[row, 0] == 0:
                needed = needed and fits[other, 0] == fits[row, 0] and other > row
        if needed:
            count_left += 1
            fits[count_left - 1, 0] = fits[row, 0]
            fits[count_left - 1, 1] = fits[row, 1]
            fits[count_left - 1, 2] = fits[row, 2]
    return count_left


@inner
def _can_rest(
    wall: Index, boxes: Index, goals: Index, around: Ints, seen: Int32s, stamp: Index, stack: Int32s
) -> bool:
    """Return whether some boxes can be pushed out, by a keeper from outside, so that the others are on
    goals."""
    free = ALL & ~wall
    stack[0, 0] = boxes
    stack[0, 1] = 0
    top = 1
    seen[0, boxes] = stamp
    while top:
        top -= 1
        boxes, part = np.int64(stack[top, 0]), np.int64(stack[top, 1])
        if boxes & ~goals == 0:
            return True
        now = free & ~boxes
        region = spread(now & RIM if part == 0 else np.int64(1) << INNER[part - 1], now)
        for cell in range(CELLS):
            for way in range(4):
                behind, ahead = around[cell, way ^ 2], around[cell, way]
                if not boxes >> cell & 1 or (part != 0 if behind == CELLS else not region >> behind & 1):
                    continue
                after = boxes & ~(np.int64(1) << cell)
                if ahead != CELLS:
                    if not now >> ahead & 1:
                        continue
                    after |= np.int64(1) << ahead
                next_part = part_of(cell, free & ~after)
                if seen[next_part, after] != stamp:
                    seen[next_part, after] = stamp
                    stack[top, 0] = after
                    stack[top, 1] = next_part
                    top += 1
    return False


def _rows(windows: Int32s, kind: Ints, fits: Ints, counts: Ints) -> Words:
    """Return one row for each box of each pattern in each window: uint64, shape (rows, 3): square, masks
    around."""
    cells = np.arange(CELLS)
    offset = 7 * (cells // 4) + cells % 4
    total = int((counts[kind] * CELLS).sum())
    rows = np.zeros((total, 3), np.uint64)
    count = _write_rows(windows, kind, fits, counts, offset, rows)
    return rows[:count]


@kernel
def _write_rows(windows: Int32s, kind: Ints, fits: Ints, counts: Ints, offset: Ints, rows: Words) -> int:
    written = 0
    for window in range(len(windows)):
        for row in range(counts[kind[window]]):
            boxes, there, only = fits[kind[window], row]
            for cell in range(CELLS):
                if not boxes >> cell & 1:
                    continue
                rows[written, 0] = windows[window, cell]
                rows[written, 2] = np.uint64(only) << np.uint64(63)
                for other in range(CELLS):
                    bit = np.uint64(1) << np.uint64(24 + offset[other] - offset[cell])
                    if boxes >> other & 1:
                        rows[written, 1] |= bit
                    if there >> other & 1:
                        rows[written, 2] |= bit
                written += 1
    return written

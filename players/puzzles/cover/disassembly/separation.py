"""The fewest moves until some pieces are free of the others: breadth-first search over the pieces' places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.disassembly.assembly import Assembly
from players.puzzles.cover.disassembly.separation_kernel import OUT_OF_ROOM, SEPARATED, STUCK, search

FIRST_ROOM = 1 << 10
MOST_PLACES = 1 << 22


@dataclass(frozen=True, slots=True)
class Step:
    """A move: some pieces go the same way together.

    Attributes:
        pieces: their numbers.
        way: (x, y, z) of the whole move.
        out: whether they go out of the others' reach; the way is then that of one step.
    """

    pieces: tuple[int, ...]
    way: tuple[int, int, int]
    out: bool


@dataclass(frozen=True, slots=True)
class Separation:
    """The moves that free some pieces from the others.

    Attributes:
        steps: the moves; the last takes its pieces out.
        places: how far the places of the assembly have changed, int16[pieces, 3], before the last.
        states: how many arrangements were looked at.
    """

    steps: tuple[Step, ...]
    places: NDArray[np.int16]
    states: int


class TooManyArrangementsError(Exception):
    """More arrangements of the pieces than are kept: whether they come apart is not known."""


def separate(
    assembly: Assembly, *, most: int = MOST_PLACES, goes_on: Callable[[], bool] = lambda: True
) -> Separation | None:
    """The fewest moves that free some pieces, None where nothing ever does.

    A move takes any group of pieces any number of steps one way, and counts as one; arrangements that differ
    by a shift of all pieces are one. Raises TooManyArrangementsError where more than ``most`` are met, or
    when ``goes_on`` says no; it is asked every few milliseconds.
    """
    room = FIRST_ROOM
    tables = _tables(room, assembly.pieces)
    sizes = np.zeros(3, np.int64)
    owner = np.repeat(np.arange(assembly.pieces, dtype=np.int32), np.diff(assembly.starts))
    motion = assembly.motion
    kinds = motion.kinds(assembly.cells)
    budget = max(1, 1_000_000 // (len(owner) * motion.swept[:, 0, :, 0].size))
    while True:
        status = search(assembly.cells, owner, kinds, motion.ways, motion.swept, *tables, sizes, budget)
        if status == SEPARATED:
            return _told(assembly, tables, sizes)
        if status == STUCK:
            return None
        if not goes_on() or (status == OUT_OF_ROOM and room >= most):
            raise TooManyArrangementsError
        if status == OUT_OF_ROOM:
            room *= 4
            tables = _larger(tables, room, assembly.pieces)


def _tables(room: int, pieces: int) -> tuple[NDArray[Any], ...]:
    """Arrangements, the one each was made from, the moves that made them, and where they are found by
    hash."""
    return (
        np.zeros((room, pieces, 3), np.int16),
        np.full(room, -1, np.int32),
        np.zeros(room, np.uint64),
        np.zeros((room, 3), np.int16),
        np.full(4 * room, -1, np.int32),
    )


def _larger(tables: tuple[NDArray[Any], ...], room: int, pieces: int) -> tuple[NDArray[Any], ...]:
    grown = _tables(room, pieces)
    for old, new in zip(tables[:-1], grown[:-1], strict=True):
        new[: len(old)] = old
    return grown


def _told(assembly: Assembly, tables: tuple[NDArray[Any], ...], sizes: NDArray[np.int64]) -> Separation:
    """The moves to the arrangement in which a group is free, which is the last one."""
    places, parents, groups, moves, _ = tables
    at = last = int(sizes[1]) - 1
    steps = []
    while parents[at] >= 0:
        group, way = int(groups[at]), moves[at]
        if 2 * group.bit_count() > assembly.pieces:
            # The others go the other way: it is the same, and fewer move.
            group, way = (1 << assembly.pieces) - 1 - group, -way
        x, y, z = (int(part) for part in way)
        steps.append(Step(_members(group, assembly.pieces), (x, y, z), at == last))
        at = int(parents[at])
    return Separation(tuple(reversed(steps)), places[int(parents[last])].copy(), int(sizes[1]))


def _members(group: int, pieces: int) -> tuple[int, ...]:
    return tuple(piece for piece in range(pieces) if group >> piece & 1)

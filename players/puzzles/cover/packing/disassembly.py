"""`take_apart`: turns an assembly of pieces into a tree of separations, down to single pieces or groups that
may stay together. Each separation is a breadth-first search over the pieces' places for the fewest moves.

The inner loop of the search for a separation: expand an arrangement and add the arrangements that are new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from propnet.jit.decorators import inner, kernel

FREE = 1 << 14
"""The steps of a piece with nothing in its way."""


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
    """Measure the free steps between all pairs of pieces and fill ``gaps``.

    Only the first cell in each cell's way is examined. The cells behind it are in that cell's way, so
    :func:`pushed` finds the same groups.

    Args:
        cells: int32[cells, 3], as in the assembly.
        owner, kinds: int32[cells]: the piece and the kind of each cell.
        places: int16[pieces, 3]: how far each piece has moved.
        ways: int32[ways, 3]: one step of each way.
        swept: int32[ways, kinds, most, 3]: the cells that a cell passes through in that step.
        now: int32[cells, 3]: scratch space for the current cells.
        gaps: int16[ways, pieces, pieces]: for each ordered pair, the steps that the first piece can take
            along the way while the second stays. FREE if it never meets the second piece, or meets another
            one first.
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
                # A ray may begin outside the box and run into it.
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
    """Return the pieces that must move if this piece moves ``steps`` steps, one bit each."""
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


UNDERWAY, _SEPARATED, STUCK, _OUT_OF_ROOM = range(4)

_MOST_GROUPS = 1024
"""Groups that can move together are unions of the groups that single pieces push. At each distance at most
this many are tried."""


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
    """Return the slot of an arrangement in the hash table, or the empty slot for it."""
    mask = len(table) - 1
    at = np.int64(_hash(new) & np.uint64(mask))
    while table[at] >= 0:
        stored = places[table[at]]
        equal = True
        for i in range(len(new)):
            for axis in range(3):
                if stored[i, axis] != new[i, axis]:
                    equal = False
        if equal:
            break
        at = (at + 1) & mask
    return int(at)


@inner
def _groups(gaps: NDArray[np.int16], steps: int, groups: NDArray[np.uint64]) -> int:
    """Find all groups that can move ``steps`` steps, except the group of all pieces. Returns their number."""
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
            duplicate = False
            for other in range(count):
                if groups[other] == union:
                    duplicate = True
                    break
            if not duplicate:
                groups[count] = union
                count += 1
    return count


@inner
def _farthest(gaps: NDArray[np.int16]) -> int:
    """Return the number of steps after which nothing new is in the way."""
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
    """Expand at most ``budget`` arrangements.

    Args:
        cells, owner, kinds: int32[cells, 3], int32[cells], int32[cells]: each piece's cells.
        ways, swept: int32[ways, 3], int32[ways, kinds, most, 3].
        places: int16[room, pieces, 3]: the arrangements found, in order of their moves; piece 0 has not
            moved.
        parents: int32[room]: the arrangement from which each was reached; -1 for the first.
        moved: uint64[room]: the pieces of the last move, one bit each.
        moves: int16[room, 3]: the distance of the last move.
        table: int32[a power of two]: arrangements by hash, -1 if empty; refilled after it has grown.
        sizes: int64[3]: arrangements expanded, found, and in the table.

    Returns UNDERWAY, SEPARATED (the last arrangement's move takes its group out), STUCK (no arrangement is
    left) or OUT_OF_ROOM (call again with larger arrays of the same contents).
    """
    pieces = places.shape[1]
    gaps = np.empty((len(ways), pieces, pieces), np.int16)
    now = np.empty((len(cells), 3), np.int32)
    groups = np.empty(_MOST_GROUPS, np.uint64)
    new = np.empty((pieces, 3), np.int16)
    one = np.uint64(1)
    if sizes[1] == 0:
        sizes[1] = 1
    if table[_slot(table, places, places[0])] < 0:
        for stored in range(sizes[1]):
            table[_slot(table, places, places[stored])] = stored
    for _ in range(budget):
        if sizes[0] == sizes[1]:
            return STUCK
        at = sizes[0]
        count_after = sizes[1]
        measure(cells, owner, kinds, places[at], ways, swept, now, gaps)
        # A group that leaves ends the search: look for one before other moves.
        for out in (True, False):
            for w in range(len(ways)):
                last = _farthest(gaps[w]) + 1
                for steps in range(last if out else 1, last + 1 if out else last):
                    count = _groups(gaps[w], steps, groups)
                    if count == 0:
                        break
                    for g in range(count):
                        group = groups[g]
                        if count_after == len(places):
                            return _OUT_OF_ROOM
                        if not out:
                            shift = steps if group & one else 0
                            for i in range(pieces):
                                own = steps if group >> np.uint64(i) & one else 0
                                for axis in range(3):
                                    new[i, axis] = places[at, i, axis] + (own - shift) * ways[w, axis]
                            slot = _slot(table, places, new)
                            if table[slot] >= 0:
                                continue
                            table[slot] = count_after
                            places[count_after] = new
                        parents[count_after] = at
                        moved[count_after] = group
                        for axis in range(3):
                            moves[count_after, axis] = ways[w, axis] * (1 if out else steps)
                        count_after += 1
                        if out:
                            sizes[1] = count_after
                            return _SEPARATED
                        sizes[1] = count_after
        sizes[0] = at + 1
    return UNDERWAY


MOST_PIECES = 64
"""A group of pieces is a bit set in one word."""


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """The ways in which pieces slide in a grid.

    Attributes:
        ways: int32[ways, 3]: translations of one step; each goes there and back.
        swept: int32[ways, kinds, most, 3]: the cells that a cell of each kind passes through, relative to it;
            unused entries repeat another.
        slant: int32[3]: the kind of cell c is (slant . c) modulo the number of kinds.
    """

    ways: NDArray[np.int32]
    swept: NDArray[np.int32]
    slant: NDArray[np.int32]

    def kinds(self, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the kind of each cell, int32[cells]."""
        kinds: NDArray[np.int32] = ((cells @ self.slant) % self.swept.shape[1]).astype(np.int32)
        return kinds


def straight(ways: Sequence[Sequence[int]]) -> Motion:
    """Return the motion of cells of one kind that touch only the next cell when they move."""
    steps = np.array(ways, np.int32)
    return Motion(steps, steps[:, None, None].copy(), np.zeros(3, np.int32))


CUBES = straight([(1, 0, 0), (0, 1, 0), (0, 0, 1)])
"""Cubes slide along the axes."""

PRISMS = Motion(
    np.array([[0, 0, 1], [2, 0, 0], [1, 1, 0], [-1, 1, 0]], np.int32),
    np.array(
        [
            [[[0, 0, 1], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]],
            [[[1, 0, 0], [2, 0, 0]], [[1, 0, 0], [2, 0, 0]]],
            [[[1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 1, 0]]],
            [[[-1, 0, 0], [-1, 1, 0]], [[0, 1, 0], [-1, 1, 0]]],
        ],
        np.int32,
    ),
    np.array([1, 1, 0], np.int32),
)
"""Prisms over triangles slide along z and along the three edges. A prism that slides along an edge passes
through its neighbour, which has the opposite orientation."""

MOTIONS = {"cubes": CUBES, "prisms": PRISMS}
"""The motions by the name of the grid. In other grids puzzles are not taken apart."""


class AssemblyError(GdlError):
    """An impossible assembly: the message names the fault and the remedy."""


@dataclass(frozen=True, eq=False, slots=True)
class Assembly:
    """Pieces in their places.

    Attributes:
        cells: int32[cells, 3]: the cells of all pieces, piece by piece.
        starts: int32[pieces + 1]: where each piece's cells begin.
        motion: the ways in which pieces slide.
        groups: for each piece the groups that it belongs to. Pieces that share a group need not come apart.

    >>> two = Assembly.of([[(0, 0, 0)], [(1, 0, 0), (2, 0, 0)]])
    >>> two.pieces
    2
    """

    cells: NDArray[np.int32]
    starts: NDArray[np.int32]
    motion: Motion = field(default_factory=lambda: CUBES)
    groups: tuple[frozenset[int], ...] = ()

    @classmethod
    def of(
        cls,
        pieces: Sequence[Sequence[tuple[int, int, int]]],
        motion: Motion = CUBES,
        groups: Sequence[frozenset[int]] = (),
    ) -> Assembly:
        """Return the assembly of pieces that are lists of cells. Raises AssemblyError for 0 or more than 64
        pieces, for a piece without cells, and for a cell that belongs to two pieces."""
        if not 0 < len(pieces) <= MOST_PIECES:
            raise AssemblyError(
                f"an assembly of {len(pieces)} pieces cannot be taken apart",
                remedy=f"take apart 1 to {MOST_PIECES} pieces at a time",
            )
        taken: dict[tuple[int, int, int], int] = {}
        for number, piece in enumerate(pieces):
            if not piece:
                raise AssemblyError(f"piece {number} has no cells", remedy="leave it out")
            for cell in piece:
                if taken.setdefault(cell, number) != number or piece.count(cell) > 1:
                    raise AssemblyError(f"cell {cell} is taken twice", remedy="give it to one piece")
        starts = np.cumsum([0, *(len(piece) for piece in pieces)]).astype(np.int32)
        cells = np.array([cell for piece in pieces for cell in piece], np.int32).reshape(-1, 3)
        return cls(cells, starts, motion, tuple(groups))

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return len(self.starts) - 1

    def piece(self, number: int) -> NDArray[np.int32]:
        """Return the cells of a piece, int32[its cells, 3]."""
        return self.cells[self.starts[number] : self.starts[number + 1]]

    def part(self, members: Sequence[int]) -> Assembly:
        """Return the assembly of only these pieces, in this order."""
        starts = np.cumsum([0, *(len(self.piece(number)) for number in members)]).astype(np.int32)
        cells = np.concatenate([self.piece(number) for number in members])
        groups = tuple(self.groups[number] for number in members) if self.groups else ()
        return Assembly(cells, starts, self.motion, groups)

    def may_stay_together(self) -> bool:
        """Whether nothing need come apart: there is one piece, or all pieces share a group."""
        if self.pieces == 1:
            return True
        return bool(self.groups) and bool(frozenset.intersection(*self.groups))


_FIRST_ROOM = 1 << 10
MOST_PLACES = 1 << 22


@dataclass(frozen=True, slots=True)
class Step:
    """A move: some pieces go the same way together.

    Attributes:
        pieces: their numbers.
        way: (x, y, z) of the whole move.
        out: whether the pieces leave the others; ``way`` is then a single step.
    """

    pieces: tuple[int, ...]
    way: tuple[int, int, int]
    out: bool


@dataclass(frozen=True, slots=True)
class _Separation:
    """The moves that free some pieces from the others.

    Attributes:
        steps: the moves; the last takes its pieces out.
        places: the shift of each piece before the last move, int16[pieces, 3].
        states: the number of arrangements examined.
    """

    steps: tuple[Step, ...]
    places: NDArray[np.int16]
    states: int


class TooManyArrangementsError(Exception):
    """More arrangements of the pieces than memory allows: it stays unknown whether they come apart."""


def separate(assembly: Assembly) -> _Separation | None:
    """Return the fewest moves that free some pieces; None if nothing comes apart.

    A move takes any group of pieces any number of steps one way and counts as one. Arrangements that differ
    by a shift of all pieces are the same. Raises TooManyArrangementsError if there are more than MOST_PLACES.
    """
    room = _FIRST_ROOM
    tables = _tables(room, assembly.pieces)
    sizes = np.zeros(3, np.int64)
    owner = np.repeat(np.arange(assembly.pieces, dtype=np.int32), np.diff(assembly.starts))
    motion = assembly.motion
    kinds = motion.kinds(assembly.cells)
    budget = max(1, 1_000_000 // (len(owner) * motion.swept[:, 0, :, 0].size))
    while True:
        status = search(assembly.cells, owner, kinds, motion.ways, motion.swept, *tables, sizes, budget)
        if status == _SEPARATED:
            return _separation(assembly, tables, sizes)
        if status == STUCK:
            return None
        if status == _OUT_OF_ROOM:
            if room >= MOST_PLACES:
                raise TooManyArrangementsError
            room *= 4
            grown = _tables(room, assembly.pieces)
            for old, new in zip(tables[:-1], grown[:-1], strict=True):
                new[: len(old)] = old
            tables = grown


def _tables(room: int, pieces: int) -> tuple[NDArray[Any], ...]:
    """Return arrays for the arrangements, their parents, the moves that led to them, and the hash table."""
    return (
        np.zeros((room, pieces, 3), np.int16),
        np.full(room, -1, np.int32),
        np.zeros(room, np.uint64),
        np.zeros((room, 3), np.int16),
        np.full(4 * room, -1, np.int32),
    )


def _separation(
    assembly: Assembly, tables: tuple[NDArray[Any], ...], sizes: NDArray[np.int64]
) -> _Separation:
    """Return the moves to the last arrangement, in which a group is free."""
    places, parents, groups, moves, _ = tables
    at = last = int(sizes[1]) - 1
    steps = []
    while parents[at] >= 0:
        group, way = int(groups[at]), moves[at]
        if 2 * group.bit_count() > assembly.pieces:
            # Moving the others the opposite way has the same effect with fewer pieces.
            group, way = (1 << assembly.pieces) - 1 - group, -way
        x, y, z = (int(part) for part in way)
        members = tuple(piece for piece in range(assembly.pieces) if group >> piece & 1)
        steps.append(Step(members, (x, y, z), at == last))
        at = int(parents[at])
    return _Separation(tuple(reversed(steps)), places[int(parents[last])].copy(), int(sizes[1]))


@dataclass(frozen=True, slots=True)
class Disassembly:
    """The tree of separations of an assembly, or of a part of one.

    Attributes:
        pieces: the pieces of this part, by their numbers in the whole assembly.
        steps: the fewest moves that free some of them from the others; none for a part that stays together.
        parts: the disassembly of both sides; none for a part that stays together.
        apart: True if everything that must come apart does, False if some part never does, None if there are
            too many arrangements to decide.
        states: arrangements examined for this separation.
    """

    pieces: tuple[int, ...]
    steps: tuple[Step, ...] = ()
    parts: tuple[Disassembly, ...] = ()
    apart: bool | None = True
    states: int = 0

    @property
    def level(self) -> tuple[int, ...]:
        """The number of moves of each separation, the outermost first: (5, 3) is a puzzle of level 5.3."""
        own = (len(self.steps),) if self.steps else ()
        return own + tuple(moves for part in self.parts for moves in part.level)

    def separations(self) -> Iterator[Disassembly]:
        """The separations in the order in which they happen."""
        if self.steps:
            yield self
        for part in self.parts:
            yield from part.separations()


def take_apart(assembly: Assembly) -> Disassembly:
    """Take an assembly apart with the fewest moves at each separation.

    After a separation each side is an assembly of its own, in its current places. Pieces only slide along the
    ways of the assembly's grid; they do not turn.

    >>> two = Assembly.of([[(0, 0, 0)], [(1, 0, 0), (2, 0, 0)]])
    >>> take_apart(two).level
    (1,)
    """
    return _part(assembly, tuple(range(assembly.pieces)))


def _part(assembly: Assembly, numbers: tuple[int, ...]) -> Disassembly:
    """Take some pieces apart; the assembly consists of these alone."""
    if assembly.may_stay_together():
        return Disassembly(numbers)
    try:
        separation = separate(assembly)
    except TooManyArrangementsError:
        return Disassembly(numbers, apart=None)
    if separation is None:
        return Disassembly(numbers, apart=False)
    owner = np.repeat(np.arange(assembly.pieces), np.diff(assembly.starts))
    now = replace(assembly, cells=(assembly.cells + separation.places[owner]).astype(np.int32))
    out = separation.steps[-1].pieces
    rest = tuple(piece for piece in range(assembly.pieces) if piece not in out)
    sides = tuple(_part(now.part(side), tuple(numbers[piece] for piece in side)) for side in (rest, out))
    steps = tuple(
        Step(tuple(numbers[piece] for piece in step.pieces), step.way, step.out) for step in separation.steps
    )
    verdicts = {side.apart for side in sides}
    apart = False if False in verdicts else None if None in verdicts else True
    return Disassembly(numbers, steps, sides, apart, separation.states)

"""All states of a small level, and which of them can still be solved: the oracle for everything else here.

A state is where the boxes are and which region the keeper is in, by its lowest square. Its successors are
made by one push each.

>>> from players.puzzles.sokoban.geometry import from_level
>>> from players.puzzles.sokoban.levels.level import Level
>>> space = explore(*from_level(Level(("######", "#@ $.#", "#    #", "######"))), most=1000)
>>> space.size, int(space.alive.sum())
(4, 3)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdl.errors import TooLargeError
from players.puzzles.sokoban.board import BOXED, FREE, Board, can_push, new_board, push, walk
from players.puzzles.sokoban.geometry import Geometry, Position
from propnet.jit.arrays import Flags, Index, Int32s, Words
from propnet.jit.decorators import inner, kernel
from propnet.kernels.record_table import find_record

_FULL = -1
_ROOM_FOR_EDGES = 64


@dataclass(frozen=True, slots=True, eq=False)
class StateSpace:
    """Every state that pushes lead to.

    Attributes:
        geometry: the level's.
        records: uint64, shape (size, words): a bit for each square with a box; the last word is the keeper's
            region, by its lowest square. Row 0 is the start.
        edges: int32, shape (pushes, 4): parent, child, the square that the box is pushed from, the direction.
        alive: bool, shape (size,): whether the state can still be solved.
        depths: int32, shape (size,): pushes from the start, at least.
    """

    geometry: Geometry
    records: Words
    edges: Int32s
    alive: Flags
    depths: Int32s

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.records)

    def position(self, number: int) -> Position:
        """The position of a state, with the keeper on the lowest square of the region."""
        *words, keeper = self.records[number].tolist()
        squares = [64 * w + bit for w, word in enumerate(words) for bit in range(64) if word >> bit & 1]
        return Position(tuple(squares), keeper)


def explore(geometry: Geometry, start: Position, most: int) -> StateSpace:
    """All states of a level.

    Raises:
        TooLargeError: there are more than ``most`` states.
    """
    board = new_board(geometry)
    words = (geometry.size + 63) // 64 + 1
    records = np.zeros((most + 1, words), np.uint64)
    for box in start.boxes:
        records[0, box // 64] |= np.uint64(1 << box % 64)
    records[0, -1] = start.keeper
    depths = np.zeros(most + 1, np.int32)
    table = np.zeros(1 << (4 * most).bit_length(), np.int32)
    edges = np.zeros((_ROOM_FOR_EDGES * (most + 1), 4), np.int32)
    counts = np.zeros(2, np.int64)
    if _explore(board, records, depths, table, edges, counts) == _FULL:
        raise TooLargeError(f"the level has more than {most:,} states")
    size, pushes = counts.tolist()
    solved = _solved(records[:size], board.goal)
    edges = edges[:pushes].copy()
    _spread_back(edges, solved)
    return StateSpace(geometry, records[:size].copy(), edges, solved, depths[:size].copy())


@inner
def unpack(board: Board, records: Words, row: Index) -> None:
    """Put the boxes of a record on the board."""
    for square in range(len(board.occupied) - 1):
        bit = records[row, square // 64] >> np.uint64(square % 64) & np.uint64(1)
        board.occupied[square] = BOXED if bit else FREE


@kernel
def _explore(
    board: Board, records: Words, depths: Int32s, table: Int32s, edges: Int32s, counts: Int32s
) -> int:
    """Breadth first from record 0. ``counts`` takes how many records and edges there are; returns -1 when
    there are more than fit."""
    size = len(board.occupied) - 1
    last = records.shape[1] - 1
    unpack(board, records, 0)
    records[0, last] = walk(board, np.int64(records[0, last]))
    slot = -1 - find_record(table, records, records, 0)
    table[slot] = 1
    known, row, made = 1, 0, 0
    pushes = np.zeros((4 * size, 2), np.int64)
    while row < known:
        unpack(board, records, row)
        walk(board, np.int64(records[row, last]))
        count = 0
        for box in range(size):
            if board.occupied[box] == BOXED:
                for direction in range(4):
                    if can_push(board, box, direction):
                        pushes[count, 0] = box
                        pushes[count, 1] = direction
                        count += 1
        for number in range(count):
            box, direction = pushes[number]
            if known == len(records) or made == len(edges):
                return _FULL
            ahead = np.int64(board.neighbours[box, direction])
            records[known] = records[row]
            records[known, box // 64] ^= np.uint64(1) << np.uint64(box % 64)
            records[known, ahead // 64] ^= np.uint64(1) << np.uint64(ahead % 64)
            records[known, last] = walk(board, push(board, box, direction))
            board.occupied[ahead] = FREE
            board.occupied[box] = BOXED
            child: Index = find_record(table, records, records, known)
            if child < 0:
                table[-1 - child] = known + 1
                depths[known] = depths[row] + 1
                child = known
                known += 1
            edges[made, 0] = row
            edges[made, 1] = child
            edges[made, 2] = box
            edges[made, 3] = direction
            made += 1
        row += 1
    counts[0] = known
    counts[1] = made
    return 0


def _solved(records: Words, goal: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Flags:
    """Which records have boxes on goals only, bool, shape (records,)."""
    wanted = np.zeros(records.shape[1] - 1, np.uint64)
    for square in np.flatnonzero(goal).tolist():
        wanted[square // 64] |= np.uint64(1 << square % 64)
    flags: Flags = ((records[:, :-1] & ~wanted) == 0).all(axis=1)
    return flags


@kernel
def _spread_back(edges: Int32s, alive: Flags) -> None:
    """Mark every state with a child that is alive, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for number in range(len(edges) - 1, -1, -1):
            parent = edges[number, 0]
            if not alive[parent] and alive[edges[number, 1]]:
                alive[parent] = True
                changed = True

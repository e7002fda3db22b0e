"""Connect four solved exactly: negamax on bitboards with a transposition table (J. Tromp: John's connect four
playground, 1995; ordering by threats and moves that do not lose at once as in P. Pons' tutorial, 2015).

A board of seven columns and six rows is two 64-bit words: the discs of the one to move, and all discs. Each
column has seven bits, the lowest row first, the seventh always empty. Values are 1, 0 and -1: won, drawn and
lost for the one to move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import inlined, kernel

COLUMNS, ROWS = 7, 6
CELLS = COLUMNS * ROWS
ENTRIES = (1 << 22) + 15
"""Of the transposition table, an odd number: keys are taken modulo it."""
MOST = 22
"""No score is larger, either way."""
_SYMMETRIC = 14
"""A board with fewer discs and its mirror image are the same in the table."""
_BOTTOM = np.uint64(sum(1 << 7 * column for column in range(COLUMNS)))
_BOARD = np.uint64(sum(0b111111 << 7 * column for column in range(COLUMNS)))
_COLUMN = np.uint64(0b1111111)
_ORDER = 3, 2, 4, 1, 5, 0, 6
_ONE, _NONE = np.uint64(1), np.uint64(0)


@inlined
def _line(found: Any, run: Any, mine: Any, step: Any) -> Any:
    """Squares that complete a line of four in one direction: the fourth after three, or one between."""
    up = run & (mine << (np.uint64(3) * step))
    found |= up
    found |= run & (mine >> step)
    run = (mine >> step) & (mine >> (np.uint64(2) * step))
    found |= run & (mine << step)
    found |= run & (mine >> (np.uint64(3) * step))
    return found


@inlined
def _wins(mine: Any, every: Any) -> Any:
    """The empty squares on which a disc completes a line of four."""
    found = (mine << np.uint64(1)) & (mine << np.uint64(2)) & (mine << np.uint64(3))
    for step in (np.uint64(7), np.uint64(6), np.uint64(8)):
        found = _line(found, (mine << step) & (mine << (np.uint64(2) * step)), mine, step)
    return found & (_BOARD ^ every)


@inlined
def _count(word: Any) -> Any:
    """The number of set bits."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def _mirrored(word: Any) -> Any:
    """The board with its columns the other way round."""
    found = _NONE
    for column in range(COLUMNS):
        bits = (word >> np.uint64(7 * column)) & _COLUMN
        found |= bits << np.uint64(7 * (COLUMNS - 1 - column))
    return found


@kernel(nogil=True)
def solve(
    mine: Any,
    every: Any,
    discs: int,
    alpha: int,
    beta: int,
    table: NDArray[np.uint64],
    nodes: NDArray[np.int64],
) -> int:
    """The score of a board, for the one to move, on which nobody has a line of four and ``discs`` lie: exact
    between ``alpha`` and ``beta``, else a bound that lies beyond them.

    ``table``: uint64, shape (entries,), an odd number, kept between calls: a board's key times 4096, and what
    its score is at least (plus MOST, times 64) and at most (plus MOST). ``nodes``: int64, shape (1,), counts
    boards."""
    if discs == CELLS:
        return 0
    if _wins(mine, every) & (every + _BOTTOM):
        return (CELLS + 1 - discs) // 2
    minds, alls = np.zeros(CELLS + 1, np.uint64), np.zeros(CELLS + 1, np.uint64)
    low, high = np.zeros(CELLS + 1, np.int64), np.zeros(CELLS + 1, np.int64)
    least, most = np.zeros(CELLS + 1, np.int64), np.zeros(CELLS + 1, np.int64)
    first, best = np.zeros(CELLS + 1, np.int64), np.zeros(CELLS + 1, np.int64)
    count, tried = np.zeros(CELLS + 1, np.int64), np.zeros(CELLS + 1, np.int64)
    keys = np.zeros(CELLS + 1, np.uint64)
    moves, worth = np.zeros((CELLS + 1, COLUMNS), np.uint64), np.zeros(COLUMNS, np.int64)
    minds[0], alls[0], low[0], high[0] = mine, every, alpha, beta
    depth, entering = 0, True
    while True:
        if entering:
            entering = False
            nodes[0] += 1
            own, both, left = minds[depth], alls[depth], CELLS - discs - depth
            free, threats = (both + _BOTTOM) & _BOARD, _wins(own ^ both, both)
            forced = free & threats
            if forced:
                # Two threats cannot both be met.
                free = _NONE if forced & (forced - _ONE) else forced
            # Below a threat nothing may lie.
            free &= ~(threats >> _ONE)
            # Nobody has a line with the next disc, nor the other one with that after it.
            least[depth], most[depth] = -((left - 2) // 2), (left - 1) // 2
            count[depth], tried[depth] = 0, 0
            if free == _NONE:
                best[depth] = -(left // 2)
            elif left <= 2:
                best[depth] = 0
            else:
                key = own + both
                if discs + depth < _SYMMETRIC:
                    key = min(key, _mirrored(own) + _mirrored(both))
                keys[depth] = key
                entry = table[key % np.uint64(len(table))]
                if entry >> np.uint64(12) == key:
                    least[depth] = np.int64((entry >> np.uint64(6)) & np.uint64(63)) - MOST
                    most[depth] = np.int64(entry & np.uint64(63)) - MOST
                low[depth], high[depth] = max(low[depth], least[depth]), min(high[depth], most[depth])
                first[depth] = low[depth]
                # Where that is known already the one bound is the other.
                best[depth] = least[depth] if least[depth] >= high[depth] else most[depth]
                if low[depth] < high[depth]:
                    best[depth] = -MOST - 1
                    for column in _ORDER:
                        move = free & (np.uint64(0b111111) << np.uint64(7 * column))
                        if move:
                            score = np.int64(_count(_wins(own | move, both | move)))
                            at = count[depth]
                            while at > 0 and worth[at - 1] < score:
                                worth[at], moves[depth, at] = worth[at - 1], moves[depth, at - 1]
                                at -= 1
                            worth[at], moves[depth, at] = score, move
                            count[depth] += 1
        if tried[depth] < count[depth] and low[depth] < high[depth]:
            move = moves[depth, tried[depth]]
            tried[depth] += 1
            minds[depth + 1], alls[depth + 1] = minds[depth] ^ alls[depth], alls[depth] | move
            low[depth + 1], high[depth + 1] = -high[depth], -low[depth]
            depth, entering = depth + 1, True
            continue
        value = best[depth]
        if count[depth]:
            if value <= first[depth]:
                most[depth] = min(most[depth], value)
            elif value >= high[depth]:
                least[depth] = max(least[depth], value)
            else:
                least[depth] = most[depth] = value
            bounds = np.uint64((least[depth] + MOST) * 64 + most[depth] + MOST)
            table[keys[depth] % np.uint64(len(table))] = keys[depth] << np.uint64(12) | bounds
        if depth == 0:
            return value
        depth -= 1
        best[depth] = max(best[depth], -value)
        low[depth] = max(low[depth], best[depth])


@dataclass(frozen=True)
class ConnectFourBoard:
    """A board.

    Attributes:
        mine, every: the discs of the one to move, and all discs, as bits.
        discs: how many lie on it.
    """

    mine: int = 0
    every: int = 0
    discs: int = 0

    def may(self, column: int) -> bool:
        """Whether a disc has room in a column, counted from 0."""
        return not self.every >> (7 * column + ROWS - 1) & 1

    def after(self, column: int) -> ConnectFourBoard:
        """The board, for the other one, after a disc was dropped into a column that has room."""
        every = self.every | (self.every + (1 << 7 * column))
        return ConnectFourBoard(self.mine ^ self.every, every, self.discs + 1)

    @property
    def lost(self) -> bool:
        """Whether the other one has a line of four."""
        other = self.mine ^ self.every
        return any(other & other >> step & other >> 2 * step & other >> 3 * step for step in (1, 6, 7, 8))


class ConnectFourSolver:
    """Values of boards.

    Attributes:
        nodes: boards looked at.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        """With so many entries of 8 bytes in its table, an odd number."""
        self._table = np.zeros(entries, np.uint64)
        self._nodes = np.zeros(1, np.int64)

    @property
    def nodes(self) -> int:
        return int(self._nodes[0])

    def _solve(self, board: ConnectFourBoard, alpha: int, beta: int) -> int:
        if board.lost:
            return -((CELLS + 2 - board.discs) // 2)
        words = np.uint64(board.mine), np.uint64(board.every)
        return int(solve(*words, board.discs, alpha, beta, self._table, self._nodes))

    def value(self, board: ConnectFourBoard) -> int:
        """1, 0 or -1: won, drawn or lost for the one to move."""
        score = self._solve(board, -1, 1)
        return (score > 0) - (score < 0)

    def values(self, board: ConnectFourBoard) -> dict[int, int]:
        """The value of each move, by column, for the one to move."""
        return {c: -self.value(board.after(c)) for c in range(COLUMNS) if board.may(c)}

"""A closed list in bounded memory: the states that a search has met, each with the move that led to it.

States are numbered in the order in which they come, and looked up by open addressing with linear probing.
A slot of the table holds a state's number and the upper half of its hash, so that most looks at other
states' slots end there. The hash is mixed once more than by :func:`hash_record`, so that all bits reach both
halves.
"""

from __future__ import annotations

import numpy as np

from propnet.jit.arrays import Flags, Int32s, Words
from propnet.jit.decorators import kernel
from propnet.kernels.record_table import hash_record, mix, same_record

_FIRST_SLOTS = 1 << 12
_LOW = np.uint64(0xFFFF_FFFF)


class ClosedList:
    """States without repetition. Two states are the same if they agree in the bits of a mask.

    Attributes:
        records: uint64, shape (capacity, words): the states; the first ``size`` rows are filled.
        parents: int32, shape (capacity,): the number of the state before, -1 for the first one.
        moves: int32, shape (capacity,): the move of role 0 that led from there.
        size: how many states there are.
        capacity: how many there may be.
        merged: how many states differed outside the mask from the state of an earlier layer that they
            counted as.
    """

    def __init__(self, words: int, mask: Words, memory: int) -> None:
        """Args:
        words: of a record.
        mask: uint64, shape (words,).
        memory: bytes that the list may take as it grows; there is room for some states in any case.
        """
        # While the table grows there are two of them, one half as large as the other.
        tables = [1 << bits for bits in range(_FIRST_SLOTS.bit_length() - 1, 32)]
        affordable = (min(slots * 3 // 4, (memory - 12 * slots) // (8 * words + 8)) for slots in tables)
        self.capacity = max(_FIRST_SLOTS * 3 // 4, *affordable)
        self.records = np.empty((self.capacity, words), np.uint64)
        self.parents = np.empty(self.capacity, np.int32)
        self.moves = np.empty(self.capacity, np.int32)
        self.size = 0
        self.merged = 0
        self._mask = mask
        self._table = np.zeros(_FIRST_SLOTS, np.uint64)

    def add(
        self, records: Words, parents: Int32s, moves: Int32s, skipped: Flags, first_parent: int, layer: int
    ) -> bool:
        """Add those of n states that are new. Returns whether there was room for all of them.

        Args:
            records: uint64, shape (n, words).
            parents: int32, shape (n,): numbers less ``first_parent``.
            moves: int32, shape (n,).
            skipped: bool, shape (n,): states that are not to be added.
            first_parent: what ``parents`` count from.
            layer: the number of the first state in the same layer as these.
        """
        done = 0
        while done < len(records):
            if self.size >= self.capacity:
                return False
            if self.size * 4 >= len(self._table) * 3:
                self.grow()
            room = min(self.capacity, len(self._table) * 3 // 4)
            done, self.size, merged = _add(
                self._table, self.records, self.parents, self.moves, self.size, room, self._mask,
                records, parents, moves, skipped, done, first_parent, layer,
            )  # fmt: skip
            self.merged += merged
        return True

    def grow(self) -> None:
        """Make the table twice as large."""
        self._table = np.zeros(2 * len(self._table), np.uint64)
        _rehash(self._table, self.records, self.size, self._mask)

    def path(self, number: int) -> list[int]:
        """The moves from the first state to this one."""
        moves: list[int] = []
        while self.parents[number] >= 0:
            moves.append(int(self.moves[number]))
            number = int(self.parents[number])
        moves.reverse()
        return moves


@kernel
def _rehash(table: Words, records: Words, size: int, mask: Words) -> None:
    last = np.uint64(len(table) - 1)
    for number in range(size):
        h = mix(hash_record(records, number, mask), np.uint64(0))
        slot = h & last
        while table[slot] != 0:
            slot = (slot + np.uint64(1)) & last
        table[slot] = (h & ~_LOW) | np.uint64(number + 1)


@kernel
def _add(
    table: Words,
    records: Words,
    parents: Int32s,
    moves: Int32s,
    size: int,
    room: int,
    mask: Words,
    new: Words,
    new_parents: Int32s,
    new_moves: Int32s,
    skipped: Flags,
    done: int,
    first_parent: int,
    layer: int,
) -> tuple[int, int, int]:
    """Add the rows from ``done`` on until there are ``room`` states. Returns the row to go on from,
    the new size, and how many were merged."""
    last = np.uint64(len(table) - 1)
    merged = 0
    for row in range(done, len(new)):
        if skipped[row]:
            continue
        h = mix(hash_record(new, row, mask), np.uint64(0))
        slot = h & last
        known = False
        while table[slot] != 0:
            if (table[slot] ^ h) & ~_LOW == 0:
                number = np.int64(table[slot] & _LOW) - 1
                if same_record(records, number, new, row, mask):
                    known = True
                    if number < layer and not same_record(records, number, new, row):
                        merged += 1
                    break
            slot = (slot + np.uint64(1)) & last
        if known:
            continue
        if size >= room:
            return row, size, merged
        for word in range(mask.size):
            records[size, word] = new[row, word]
        parents[size] = first_parent + new_parents[row]
        moves[size] = new_moves[row]
        table[slot] = (h & ~_LOW) | np.uint64(size + 1)
        size += 1
    return len(new), size, merged

"""Records in any order become a set: sorted in a buffer, kept in compressed runs, merged at the end."""

from __future__ import annotations

import numpy as np

from players.strong.packed_sets import PackedSet, merged
from players.strong.row_sets import as_set
from propnet.jit.arrays import Words


class Gatherer:
    """Collects records, ``words`` wide, and makes a set of them; repeated ones take little memory.

    ``buffer``: bytes of rows that are collected before they are sorted, for which it takes as many again.
    """

    def __init__(self, words: int, buffer: int) -> None:
        self._words = words
        self._buffer = np.empty((max(1, buffer // (8 * words)), words), np.uint64)
        self._filled = 0
        self._runs: list[PackedSet] = []

    def add(self, rows: Words) -> None:
        """Take records (n, words); they are copied."""
        while len(rows):
            taken = min(len(rows), len(self._buffer) - self._filled)
            self._buffer[self._filled : self._filled + taken] = rows[:taken]
            self._filled += taken
            rows = rows[taken:]
            if self._filled == len(self._buffer):
                self._flush()

    @property
    def held(self) -> int:
        """Bytes that it takes, and takes while it sorts."""
        return 2 * self._buffer.nbytes + sum(run.held for run in self._runs)

    def finish(self) -> PackedSet:
        """The set of all records since the last call."""
        self._flush()
        return merged(self._runs, self._words)

    def _flush(self) -> None:
        if self._filled:
            self._runs.append(PackedSet.of(as_set(self._buffer[: self._filled])))
        self._filled = 0

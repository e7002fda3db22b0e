"""What one search process lets the others see: root statistics in shared memory, without locks.

The memory has no name, so that nothing is left when all who have it open are gone. Two copies of
the statistics are written in turn: one is whole at any time, also if the writer was stopped or
killed in the midst of the other. The number of the writing says which copy is whole.

Layout, in 64-bit words: HEADER, then for each copy META, visits, totals, proven.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import time

import numpy as np

from players.uct.root_statistics import RootStatistics

MOVES = 1 << 14
"""The most moves of all roles in one state that can be told; states with more are told as none."""
ROLES = 64
"""The most roles, likewise."""

_HEADER = 8
_WRITTEN, _PULSE, _TASK = range(3)
_META = 8 + ROLES
_ROOT, _PLAYOUTS, _NODES, _DEPTH, _VALUE, _ROLES, _MIXED = range(7)
_COPY = _META + 3 * MOVES
_BYTES = 8 * (_HEADER + 2 * _COPY)
_TRIES = 10


def new_memory() -> int:
    """A file descriptor of memory for one slot, or for anything else if it is resized."""
    descriptor = _nameless()
    os.ftruncate(descriptor, _BYTES)
    return descriptor


def shared_bytes(data: bytes) -> int:
    """A file descriptor of memory that holds these bytes."""
    descriptor = _nameless()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    return descriptor


def _nameless() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("kaskade")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Slot:
    """A view on such memory. One process writes, any may read."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _BYTES)
        self._words = np.frombuffer(self._memory, np.int64)

    def pulse(self) -> None:
        """Note that the writer's process lives."""
        self._words[_PULSE] = time.monotonic_ns()

    def task(self) -> None:
        """Note that the writer goes on to its next task."""
        self._words[_TASK] = time.monotonic_ns()

    @property
    def last_pulse(self) -> float:
        """When the last pulse was; time.monotonic() seconds, 0 for never."""
        return float(self._words[_PULSE]) / 1e9

    @property
    def last_task(self) -> float:
        """When the last task was begun, likewise."""
        return float(self._words[_TASK]) / 1e9

    @property
    def used(self) -> bool:
        """Whether anything was ever written."""
        return bool(self._words[_WRITTEN])

    def write(self, root: int, found: RootStatistics) -> None:
        """Tell what is known about root number ``root``."""
        following = int(self._words[_WRITTEN]) + 1
        copy = self._copy(following)
        moves = len(found.visits)
        if moves > MOVES or len(found.counts) > ROLES:
            found = RootStatistics.empty([0])
            moves = 0
        copy[:_META] = 0
        copy[:5] = (root, found.playouts, found.nodes, found.depth, found.value)
        copy[_ROLES], copy[_MIXED] = len(found.counts), found.mixed
        copy[8 : 8 + len(found.counts)] = found.counts
        copy[_META : _META + moves] = found.visits
        copy[_META + MOVES : _META + MOVES + moves].view(np.float64)[:] = found.totals
        copy[_META + 2 * MOVES : _META + 2 * MOVES + moves] = found.proven
        self._words[_WRITTEN] = following

    def read(self, root: int) -> RootStatistics | None:
        """What the writer last told, if it was about this root."""
        for _ in range(_TRIES):
            written = int(self._words[_WRITTEN])
            copy = self._copy(written)
            meta = copy[:_META].copy()
            counts = tuple(meta[8 : 8 + int(meta[_ROLES])].tolist())
            if not written or meta[_ROOT] != root:
                return None
            moves = sum(counts)
            found = RootStatistics(
                counts,
                copy[_META : _META + moves].copy(),
                copy[_META + MOVES : _META + MOVES + moves].view(np.float64).copy(),
                copy[_META + 2 * MOVES : _META + 2 * MOVES + moves].astype(np.int16),
                int(meta[_PLAYOUTS]),
                int(meta[_NODES]),
                int(meta[_DEPTH]),
                int(meta[_VALUE]),
                bool(meta[_MIXED]),
            )
            if int(self._words[_WRITTEN]) == written:
                return found
        return None

    def _copy(self, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        first = _HEADER + (number & 1) * _COPY
        return self._words[first : first + _COPY]

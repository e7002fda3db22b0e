"""The statistics of a search process's root, in memory that its player shares.

There are no locks. The memory has no name, so it vanishes when all processes that have it open are gone. Two
copies of the statistics are written in turn: one is whole at any time, even if the writer was stopped or
killed while writing the other. The number of writes says which copy is whole.
"""

from __future__ import annotations

import mmap
import os
import time

import numpy as np

from players.processes.lines import nameless
from players.uct.root_statistics import RootStatistics

MOVES = 1 << 14
"""The most moves of all roles in one state whose statistics fit; larger states are not written."""
ROLES = 64
"""The most roles, likewise."""

_TRIES = 10
_COPY = np.dtype(
    [
        ("root", np.int64),
        ("playouts", np.int64),
        ("nodes", np.int64),
        ("depth", np.int64),
        ("value", np.int64),
        ("mixed", np.int64),
        ("roles", np.int64),
        ("counts", np.int64, ROLES),
        ("visits", np.int64, MOVES),
        ("totals", np.float64, MOVES),
        ("proven", np.int64, MOVES),
    ]
)
_SLOT = np.dtype(
    [
        ("writings", np.int64),  # number of writes; 0 for none yet
        ("pulse", np.int64),  # time of the writer's last sign of life, in ns
        ("task", np.int64),  # time when it began its latest task
        ("copies", _COPY, 2),
    ]
)


def new_memory() -> int:
    """A file descriptor of memory for one slot."""
    descriptor = nameless()
    os.ftruncate(descriptor, _SLOT.itemsize)
    return descriptor


class Slot:
    """A view of such memory. One process writes, any number may read."""

    def __init__(self, descriptor: int) -> None:
        slot = np.frombuffer(mmap.mmap(descriptor, _SLOT.itemsize), _SLOT)
        self._writings, self._pulse, self._task = slot["writings"], slot["pulse"], slot["task"]
        self._copies = slot["copies"][0]

    def pulse(self) -> None:
        """Note that the writer's process is alive."""
        self._pulse[0] = time.monotonic_ns()

    def task(self) -> None:
        """Note that the writer goes on to its next task."""
        self._task[0] = time.monotonic_ns()

    @property
    def last_pulse(self) -> float:
        """Time of the last pulse; time.monotonic() seconds, 0 for never."""
        return float(self._pulse[0]) / 1e9

    @property
    def last_task(self) -> float:
        """Time when the last task began, likewise."""
        return float(self._task[0]) / 1e9

    @property
    def used(self) -> bool:
        """Whether anything was ever written."""
        return bool(self._writings[0])

    def write(self, root: int, statistics: RootStatistics) -> None:
        """Write the statistics of root number ``root``."""
        number = int(self._writings[0]) + 1
        copy = self._copies[number & 1]
        if len(statistics.visits) > MOVES or len(statistics.counts) > ROLES:
            statistics = RootStatistics.empty([0])
        moves = len(statistics.visits)
        copy["root"] = root
        for name in ("playouts", "nodes", "depth", "value", "mixed"):
            copy[name] = getattr(statistics, name)
        copy["roles"] = len(statistics.counts)
        copy["counts"][: len(statistics.counts)] = statistics.counts
        for name in ("visits", "totals", "proven"):
            copy[name][:moves] = getattr(statistics, name)
        self._writings[0] = number

    def read(self, root: int) -> RootStatistics | None:
        """The statistics last written, if they are about this root."""
        for _ in range(_TRIES):
            number = int(self._writings[0])
            copy = self._copies[number & 1]
            counts = tuple(copy["counts"][: int(copy["roles"])].tolist())
            if not number or copy["root"] != root:
                return None
            moves = sum(counts)
            statistics = RootStatistics(
                counts,
                copy["visits"][:moves].copy(),
                copy["totals"][:moves].copy(),
                copy["proven"][:moves].astype(np.int16),
                playouts=int(copy["playouts"]),
                nodes=int(copy["nodes"]),
                depth=int(copy["depth"]),
                value=int(copy["value"]),
                mixed=bool(copy["mixed"]),
            )
            if int(self._writings[0]) == number:
                return statistics
        return None

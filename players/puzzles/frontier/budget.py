"""How the memory that the user allows is divided: buffers, ranges, and what is kept."""

from __future__ import annotations

import ctypes
import resource
from dataclasses import dataclass
from pathlib import Path

_PAGE = resource.getpagesize()
_TAGGED_BYTES = 16
"""A tagged key in a worker's buffer, and its place in the array that it is sorted into."""
_RANGE_BYTES = 60
"""A key of a range while it is merged: decoded, sorted, split, coded."""
_MACHINES, _WORKER = 4 << 20, 4 << 20
"""What a search takes besides, and each of its workers."""
_FEEDS = 32 << 20
"""Memory to spare for each worker, else there are fewer."""
_BUFFERS, _RANGES = 0.2, 0.2
"""Shares of the memory that is to spare."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes.

    Attributes:
        room: tagged keys in each worker's buffer.
        range_keys: keys of a range, about.
        kept: bytes for coded runs and layers.
        workers: how many there is memory for.
    """

    room: int
    range_keys: int
    kept: int
    workers: int

    @classmethod
    def of(cls, memory: int, workers: int, kept: int = 0) -> Budget:
        """Divide what ``memory`` bytes leave besides what the process has already; ``kept`` of it holds
        runs."""
        return_free_memory()
        spare = max(0, memory - resident_bytes() + kept - _MACHINES)
        workers = max(1, min(workers, spare // _FEEDS))
        spare = max(0, spare - workers * _WORKER)
        room = _clamped(spare * _BUFFERS / _TAGGED_BYTES / workers, 1 << 15, 1 << 20)
        range_keys = _clamped(spare * _RANGES / _RANGE_BYTES / workers, 1 << 15, 1 << 19)
        used = workers * (room * _TAGGED_BYTES + range_keys * _RANGE_BYTES)
        return cls(room, range_keys, max(1 << 20, int(spare * 0.9) - used), workers)


def return_free_memory() -> None:
    """Give memory that was freed back to the system, which C's allocator else keeps for later."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident_bytes() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def peak_bytes() -> int:
    """The most bytes that this process ever had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _clamped(value: float, low: int, high: int) -> int:
    return int(min(max(value, low), high))

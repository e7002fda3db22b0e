"""Divide the memory that the user allows among buffers, ranges and stored runs."""

from __future__ import annotations

import ctypes
import mmap
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from players.sorted_sets.keys import Keys

_PAGE = resource.getpagesize()
_RANGE_WORDS = 7.5
"""Memory of a key of a range while it is merged, relative to its size: decoded, sorted, split, coded."""
_MACHINES, _WORKER = 36 << 20, 4 << 20
"""Bytes that a search takes in addition, and that each of its workers takes."""
_FEEDS = 32 << 20
"""Spare memory that each worker needs; if there is less, there are fewer workers."""
_BUFFERS, _RANGES = 0.2, 0.2
"""Shares of the spare memory."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The sizes of buffers and stores.

    Attributes:
        room: the tagged keys in each worker's buffer.
        range_keys: about how many keys a range has.
        stored: bytes for coded runs and layers.
        workers: the number of workers that the memory allows.
    """

    room: int
    range_keys: int
    stored: int
    workers: int

    @classmethod
    def of(cls, memory: int, workers: int, kind: Keys, stored: int = 0) -> MemoryPlan:
        """Divide the part of ``memory`` bytes that the process does not use yet. ``stored`` bytes of its
        memory hold runs."""
        tagged_bytes = 2 * kind.row_bytes + kind.sort_bytes
        range_bytes = _RANGE_WORDS * kind.row_bytes + kind.sort_bytes
        return_free_memory()
        spare = max(0, memory - resident_bytes() + stored - _MACHINES)
        workers = max(1, min(workers, spare // _FEEDS))
        spare = max(0, spare - workers * _WORKER)
        room = _clamped(spare * _BUFFERS / tagged_bytes / workers, 1 << 15, 1 << 20)
        range_keys = _clamped(spare * _RANGES / range_bytes / workers, 1 << 15, 1 << 19)
        used = int(workers * (room * tagged_bytes + range_keys * range_bytes))
        return cls(room, range_keys, max(1 << 20, int(spare * 0.9) - used), workers)


def return_free_memory() -> None:
    """Return freed memory to the system, which C's allocator otherwise keeps for later, and the pages of the
    compiler's machine code."""
    system = ctypes.CDLL(None, use_errno=True)
    trim = getattr(system, "malloc_trim", None)
    if trim is not None:
        trim(0)
    advise = getattr(system, "madvise", None)
    if advise is not None:
        for start, end in _compiler_pages():
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), ctypes.c_int(mmap.MADV_DONTNEED))


def _compiler_pages() -> Iterator[tuple[int, int]]:
    """Yield the addresses of the compiler's machine code: 60 MB that are not needed once kernels are loaded.

    The code is mapped from its file, read-only, and never written to. The system loads released pages from
    the file again when the code runs.
    """
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        for line in maps:
            addresses, rights, *_, file = line.split(maxsplit=5)
            if rights == "r-xp" and "libllvmlite" in file:
                start, _, end = addresses.partition("-")
                yield int(start, 16), int(end, 16)


def resident_bytes() -> int:
    """Return the resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * _PAGE


def peak_bytes() -> int:
    """Return the most bytes that this process ever had resident. (``getrusage`` also counts its parent's.)"""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def _clamped(value: float, low: int, high: int) -> int:
    return int(min(max(value, low), high))

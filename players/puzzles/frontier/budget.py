"""How the memory that the user allows is divided: buffers, ranges, and what is kept."""

from __future__ import annotations

import ctypes
import mmap
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from players.puzzles.frontier.keys.kinds import KeyKind

_PAGE = resource.getpagesize()
_RANGE_WORDS = 7.5
"""A key of a range while it is merged, in times of its size: decoded, sorted, split, coded."""
_MACHINES, _WORKER = 36 << 20, 4 << 20
"""What a search takes besides, and each of its workers."""
_FEEDS = 32 << 20
"""Memory to spare for each worker, else there are fewer."""
_BUFFERS, _RANGES = 0.2, 0.2
"""Shares of the memory that is to spare."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
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
    def of(cls, memory: int, workers: int, kind: KeyKind, kept: int = 0) -> MemoryPlan:
        """Divide what ``memory`` bytes leave besides what the process has already; ``kept`` of it holds
        runs."""
        tagged_bytes = 2 * kind.tagged_bytes + kind.sort_bytes
        range_bytes = _RANGE_WORDS * kind.tagged_bytes + kind.sort_bytes
        return_free_memory()
        spare = max(0, memory - resident_bytes() + kept - _MACHINES)
        workers = max(1, min(workers, spare // _FEEDS))
        spare = max(0, spare - workers * _WORKER)
        room = _clamped(spare * _BUFFERS / tagged_bytes / workers, 1 << 15, 1 << 20)
        range_keys = _clamped(spare * _RANGES / range_bytes / workers, 1 << 15, 1 << 19)
        used = int(workers * (room * tagged_bytes + range_keys * range_bytes))
        return cls(room, range_keys, max(1 << 20, int(spare * 0.9) - used), workers)


def return_free_memory() -> None:
    """Give memory that was freed back to the system, which C's allocator else keeps for later, and what the
    compiler's machine code takes."""
    system = ctypes.CDLL(None, use_errno=True)
    trim = getattr(system, "malloc_trim", None)
    if trim is not None:
        trim(0)
    advise = getattr(system, "madvise", None)
    if advise is not None:
        for start, end in _compiler_pages():
            advise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), ctypes.c_int(mmap.MADV_DONTNEED))


def _compiler_pages() -> Iterator[tuple[int, int]]:
    """The addresses of the compiler's machine code: 60 MB that are of no use once kernels are loaded.

    It is mapped from its file, for reading only, and never written to: what is given up comes back from
    the file when it runs again.
    """
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        for line in maps:
            addresses, rights, *_, file = line.split(maxsplit=5)
            if rights == "r-xp" and "libllvmlite" in file:
                start, _, end = addresses.partition("-")
                yield int(start, 16), int(end, 16)


def resident_bytes() -> int:
    """Resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * _PAGE


def peak_bytes() -> int:
    """The most bytes that this process ever had resident. (``getrusage`` counts what its parent had, too.)"""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def _clamped(value: float, low: int, high: int) -> int:
    return int(min(max(value, low), high))

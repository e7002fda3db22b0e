"""Limits of the grounder, and the budget that counts against them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gdl.errors import Place, TooLargeError

try:
    import resource

    _PAGE = resource.getpagesize()
except ImportError:  # not on Windows
    _PAGE = 4096

REMEDY = "raise the limits of the grounder, or play with the prover"


@dataclass(frozen=True, slots=True)
class GroundLimits:
    """Limits beyond which grounding stops with a :class:`TooLargeError`.

    Attributes:
        max_rules: ground rules.
        max_atoms: atoms of all relations together.
        memory_bytes: growth of the process's memory.
        cpu_seconds: CPU time of this process.
    """

    max_rules: int = 20_000_000
    max_atoms: int = 6_000_000
    memory_bytes: int = 4 << 30
    cpu_seconds: float = 60.0


def resident_bytes() -> int:
    """The memory that this process occupies, in bytes; 0 if the system does not report it."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


class Budget:
    """The part of the limits that has been used. ``place`` is the rule being worked on, for the message. All
    methods raise TooLargeError past a limit."""

    def __init__(self, limits: GroundLimits) -> None:
        self.limits = limits
        self._start = time.process_time()
        self._next = 0.0
        self._before = resident_bytes()
        self.atoms = 0
        self.rules = 0
        self.place: Place | None = None

    def fail(self, what: str) -> TooLargeError:
        """The error that names the limit that was passed, and the rule."""
        place = self.place if self.place is not None and self.place.line else None
        return TooLargeError(f"grounding takes too much: {what}", place, REMEDY)

    def tick(self) -> None:
        """Check the time."""
        # Reading the CPU time is slow on some systems; CPU time never runs much ahead.
        clock = time.perf_counter()
        if clock < self._next:
            return
        self._next = clock + 0.05
        if time.process_time() - self._start > self.limits.cpu_seconds:
            raise self.fail(f"more than {self.limits.cpu_seconds:g} s of CPU time")

    def rows(self, count: int, columns: int) -> None:
        """Check time and memory before a table of this size is allocated."""
        self.tick()
        # Values are 4 bytes; a join needs about four more words per row while it runs.
        needed = count * (4 * columns + 32)
        if needed > 4_000_000:
            used = max(resident_bytes() - self._before, 0)
            if used + needed > self.limits.memory_bytes:
                raise self.fail(
                    f"a join of {count:,} rows does not fit into {self.limits.memory_bytes / 1e6:,.0f} MB"
                )

    def add_atoms(self, count: int) -> None:
        """Count new atoms."""
        self.atoms += count
        if self.atoms > self.limits.max_atoms:
            raise self.fail(f"more than {self.limits.max_atoms:,} atoms")

    def add_rules(self, count: int) -> None:
        """Count new ground rules."""
        self.rules += count
        if self.rules > self.limits.max_rules:
            raise self.fail(f"more than {self.limits.max_rules:,} ground rules")

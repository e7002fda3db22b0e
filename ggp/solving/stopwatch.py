"""`Stopwatch`: how long a search took, in CPU seconds and by the clock."""

from __future__ import annotations

import resource
import time


class Stopwatch:
    """The seconds since it was made, as text ``0.31 CPU seconds, 0.35 s by the clock``."""

    def __init__(self) -> None:
        self._began, self._used = time.monotonic(), _cpu_seconds()

    @property
    def cpu(self) -> float:
        """CPU seconds of this process and of those it has started and waited for."""
        return _cpu_seconds() - self._used

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return time.monotonic() - self._began

    def __str__(self) -> str:
        return f"{self.cpu:.2f} CPU seconds, {self.wall:.2f} s by the clock"


def _cpu_seconds() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )

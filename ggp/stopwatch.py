"""`Stopwatch`: how long something took, in CPU seconds and by the clock."""

from __future__ import annotations

import resource
import time


class Stopwatch:
    """The seconds since it was made, as text ``0.31 CPU seconds, 0.35 s by the clock``."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first = self._last = self._used()

    @staticmethod
    def _used() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    @property
    def cpu(self) -> float:
        """CPU seconds of this process and of its finished children."""
        return self._used() - self._first

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return time.monotonic() - self._began

    def lap(self) -> float:
        """CPU seconds since the last lap."""
        before, self._last = self._last, self._used()
        return self._last - before

    def __str__(self) -> str:
        return f"{self.cpu:.2f} CPU seconds, {self.wall:.2f} s by the clock"

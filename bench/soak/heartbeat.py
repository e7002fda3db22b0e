"""Whether a process runs all the time: a thread looks at the clock, and knows for how long it could not."""

from __future__ import annotations

import threading
import time
from collections import deque

BEAT = 0.01
"""Seconds between two looks at the clock."""


class Heartbeat(threading.Thread):
    """Looks at the clock all the time, and knows for how long it could not."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._gaps: deque[tuple[float, float]] = deque(maxlen=1000)
        self._last = time.monotonic()

    def run(self) -> None:
        """Look, until the process ends."""
        while True:
            time.sleep(BEAT)
            now = time.monotonic()
            if now - self._last > 2 * BEAT:
                self._gaps.append((now, now - self._last))
            self._last = now

    def longest(self, seconds: float) -> float:
        """The longest time between two looks in the last so many seconds."""
        now = time.monotonic()
        return max([now - self._last, *(gap for end, gap in list(self._gaps) if end >= now - seconds)])

"""A word to people when kernels must be compiled: numba is imported only where that happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_wanted: list[tuple[int, Callable[[], None]]] = []


def tell_when_compiling(tell: Callable[[], None]) -> None:
    """Call ``tell`` when this process compiles its first kernel: before it is done, and once."""
    _wanted[:] = [(os.getpid(), tell)]


def listen(event: Any) -> None:
    """Listen to numba's events (its module is given), if someone wants to be told."""
    if not _wanted:
        return

    class FirstKernel(event.Listener):  # type: ignore[misc]
        """Hears of kernels that are not on disk."""

        def on_start(self, occurrence: Any) -> None:
            if _wanted and _wanted[0][0] == os.getpid():
                _wanted.pop()[1]()

        def on_end(self, occurrence: Any) -> None:
            """Nothing: one word is enough."""

    event.register("numba:compile", FirstKernel())

"""Right of way on the processors for what must answer in time, where the system grants it.

The event loop and the keepers use next to nothing, but on a busy computer they may have to wait for
hundredths of a second. Where the process may (as root, or by ``RLIMIT_NICE``), they get a lower nice value.
Searches and builders never do: they take what others leave.
"""

from __future__ import annotations

import contextlib
import os
import threading

FIRST = 5
"""How much lower the nice value is."""

_usual: int | None = None


def go_first() -> None:
    """Let this thread, and threads that it starts, go first if it may."""
    global _usual
    if not hasattr(os, "setpriority"):
        return
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), usual - FIRST)
        _usual = usual


def go_as_usual() -> None:
    """Let this thread, and processes that it starts, go as if nothing had been said."""
    if _usual is not None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _usual)

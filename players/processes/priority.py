"""Right of way on the processors for processes that must answer in time, where the system grants it.

The event loop and the processes that hold safe moves use next to nothing, but may have to wait on a busy
computer. If permitted (as root, or by ``RLIMIT_NICE``), they get a lower nice value; searches and builders
never do.
"""

from __future__ import annotations

import contextlib
import os
import threading

FIRST = 5
"""How much the nice value is lowered."""
_usual: int | None = None


def go_first() -> None:
    """Let this thread, and threads that it starts, go first if permitted."""
    global _usual
    if not hasattr(os, "setpriority"):
        return
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), usual - FIRST)
        _usual = usual


def go_as_usual() -> None:
    """Undo :func:`go_first` for this thread and the processes that it starts."""
    if _usual is not None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _usual)

"""Limits on the time that players may take before any clock of a match runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gdl.errors import GdlError
from ggp.printing import show

READY_SECONDS = 60.0
"""Seconds that a player may take to be imported, and then again to be created and to think once."""
REMIND_SECONDS = 10.0
"""Seconds after which the terminal names the player it waits for."""


@contextmanager
def impatient(what: str) -> Iterator[None]:
    """Run strangers' code in the main thread: stderr reports a long wait for ``what``, and in the end
    GdlError is raised in that code."""
    if threading.current_thread() is not threading.main_thread():  # signals reach only the main thread
        yield
        return
    reminded = False

    def remind(number: int, frame: FrameType | None) -> None:
        nonlocal reminded
        if reminded:
            raise GdlError(f"{what} is not done after {READY_SECONDS:.0f} s")
        reminded = True
        show(f"ggp: waiting for {what}", err=True)

    before = signal.signal(signal.SIGALRM, remind)
    signal.setitimer(signal.ITIMER_REAL, REMIND_SECONDS, READY_SECONDS - REMIND_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

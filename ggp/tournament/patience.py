"""How long players may take before any clock of a match runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gdl.errors import GdlError
from ggp.printing import show

READY_SECONDS = 60.0
"""How long a player may take to be imported, and then to be made and to think once."""
REMIND_SECONDS = 10.0
"""After so long the terminal says who is waited for."""


@contextmanager
def impatient(what: str) -> Iterator[None]:
    """Strangers' code in the main thread: stderr says what is waited for, and in the end GdlError is raised
    in it."""
    if threading.current_thread() is not threading.main_thread():  # signals reach no other
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

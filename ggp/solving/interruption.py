"""Ctrl-C that a long search answers when it can."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noted_ctrl_c() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C is only noted, so that the search ends between two steps; the second is an
    interruption as always."""
    noted = False

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, before)

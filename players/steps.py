"""`Steps`: the protocol of work that is done in slices of time."""

from __future__ import annotations

import time
from typing import Protocol


class Steps(Protocol):
    """Work that goes on whenever :meth:`step` is called, until it is finished."""

    def step(self, deadline: float) -> bool:
        """Work until about ``deadline`` (a moment of time.monotonic()), a few milliseconds more or less.
        Returns True when the work is finished."""
        ...


def finish(work: Steps, slice_seconds: float = 1.0) -> None:
    """Do all of the work, in slices of this length."""
    while not work.step(time.monotonic() + slice_seconds):
        pass

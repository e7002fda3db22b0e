"""Puzzles that a solver is made for: this solver works before the tree begins.

The tree would find nothing there, and where its kernels are not compiled yet it would cost the first minute.
"""

from __future__ import annotations

import time

from players.portfolio import MASTER_SECONDS, Portfolio

OTHERS_SECONDS = 40.0
"""Seconds by the clock that searches without the solver wait: it works in the first search alone."""
_STEP_SECONDS = 0.05


class MasterFirst:
    """Has the solver work in the first of several searches of the same match, and has the others wait.

    Args:
        number: which of them this is, from 0.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._began = time.monotonic()
        self._used = 0.0

    def step(self, solvers: Portfolio, deadline: float) -> bool | None:
        """Work or wait for a moment, until ``deadline`` (time.monotonic()) at most. Returns what
        :meth:`players.uct.search.Search.step` does; None as soon as the tree should begin."""
        if self._number:
            return False if time.monotonic() < self._began + OTHERS_SECONDS else None
        if self._used > MASTER_SECONDS or not solvers.active:
            return None
        began = time.thread_time()
        solvers.step(_STEP_SECONDS, min(deadline, time.monotonic() + _STEP_SECONDS))
        self._used += time.thread_time() - began
        return True

"""A learnt value in a search: learnt before the first turn, it then has its say in the results of leaves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from players.evaluation_lessons import Lessons

if TYPE_CHECKING:
    from propnet.interpret import PropnetMachine

_LEARNING = 0.15
"""Share of the time to the first deadline that is for learning."""
_FEWEST_SECONDS = 1.5
"""With less time than this to the deadline learning waits for a later one."""
_SLICE_SECONDS = 0.02
_EXPLAINS = 0.02
"""A value that foretells less than this part of the variance of results is not used."""


class LearntValue:
    """What one search learns of the states of its machine."""

    def __init__(self, machine: PropnetMachine, seed: int, share: float) -> None:
        """``share``, 0..1: how much the value counts for in the result of a leaf."""
        self._share = share
        self._lessons = Lessons(machine, seed)
        self._course: Iterator[None] | None = None
        self._learning = True

    def learn(self, deadline: float) -> bool:
        """Learn for some milliseconds. Returns whether it did.

        ``deadline``: when the first search must be over; time.monotonic() seconds."""
        if not self._learning:
            return False
        now = time.monotonic()
        if self._course is None:
            if deadline - now < _FEWEST_SECONDS:
                return False
            self._course = self._lessons.go_on(now + _LEARNING * (deadline - now))
        for _ in self._course:
            if time.monotonic() > now + _SLICE_SECONDS:
                return True
        self._learning = False
        return True

    @property
    def useful(self) -> bool:
        """Whether there is a value that foretells enough."""
        found = self._lessons.evaluation
        return found is not None and found.explains >= _EXPLAINS

    def mix(self, records: NDArray[np.uint64], rows: NDArray[np.int64], results: NDArray[np.float64]) -> None:
        """Let the values of states (n, words) have their share in ``results[rows]``; rows (n,)."""
        found = self._lessons.evaluation
        if found is not None and self.useful:
            results[rows] += self._share * (found.values(records) - results[rows])

    def __str__(self) -> str:
        return str(self._lessons.evaluation) if self.useful else "no value learnt"

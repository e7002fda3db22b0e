"""`Stepwise`: work in slices of time. `Companion`: such work in turns with a search tree, whose time
`TimeShares` divides.

Puzzle solvers and trials of rollout policies are companions. The tree works in batches. Each CPU second of a
batch earns a companion some CPU time of its own (its *rate*). Once a companion has earned enough time for a
step, the step runs before the next batch.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

MOST_CREDIT, MOST_DEBT = 1.0, 0.5
"""The most CPU seconds that a companion can save up, or can owe after a long step."""


class Stepwise(Protocol):
    """Work that goes on whenever :meth:`step` is called, until it is finished."""

    @abstractmethod
    def step(self, deadline: float) -> bool:
        """Work until about ``deadline`` (a moment of time.monotonic()), a few milliseconds more or less.
        Returns True when the work is finished."""


class Companion(Stepwise, ABC):
    """Works in steps between the batches of a search tree.

    Attributes:
        least: the fewest CPU seconds for a step.
        rate: CPU seconds that it earns for each CPU second of the tree.
        opening: share of the time to the first deadline after it has joined that it gets before the tree.
    """

    least: ClassVar[float] = 0.02
    rate: ClassVar[float] = 1.0
    opening: ClassVar[float] = 0.0

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether there is anything to do."""


class TimeShares:
    """Divides time between a tree and its companions.

    >>> shares = TimeShares()
    >>> shares.turn(deadline=time.monotonic() + 1.0) is None  # no companion has joined
    True
    """

    def __init__(self) -> None:
        self._credit: dict[Companion, float] = {}
        self._new: list[Companion] = []

    def join(self, companion: Companion, credit: float = 0.0) -> None:
        """Give this companion time from now on, and ``credit`` CPU seconds before the tree begins."""
        self._credit[companion] = credit
        self._new.append(companion)

    def leave(self, companion: Companion) -> float:
        """Give this companion no more time. Returns the CPU seconds it had left."""
        return self._credit.pop(companion, 0.0)

    def earn(self, seconds: float) -> None:
        """Credit all companions for a batch of the tree that took this many CPU seconds."""
        for companion, credit in self._credit.items():
            earned = credit + seconds * companion.rate
            self._credit[companion] = min(earned, max(credit, MOST_CREDIT))

    def turn(self, deadline: float) -> Companion | None:
        """Let the companion with the most credit per ``least`` work. Returns it; None if no companion is due
        or the deadline (time.monotonic()) has passed."""
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        for companion in self._new:
            if companion in self._credit:
                self._credit[companion] += companion.opening * left
        self._new.clear()
        due = [c for c, credit in self._credit.items() if credit >= c.least and c.active]
        if not due:
            return None
        companion = max(due, key=lambda c: self._credit[c] / c.least)
        credit, began = self._credit[companion], time.thread_time()
        companion.step(min(deadline, time.monotonic() + credit))
        # A step that found too little time is charged, too; otherwise it would be tried again and again.
        spent = max(time.thread_time() - began, companion.least)
        self._credit[companion] = max(credit - spent, -MOST_DEBT)
        return companion

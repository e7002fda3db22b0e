"""`Stepwise`: work in slices of time. `Companion`: such work in turns with a search tree, whose time
`TimeShares` divides.

Proof search, puzzle solvers and trials of rollout policies are companions. The tree works in batches. Each
CPU second of a batch earns a companion some CPU time of its own (its *rate*). Once a companion has earned
enough time for a step, the step runs before the next batch.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

MOST_CREDIT, MOST_DEBT = 1.0, 0.5
"""The most CPU seconds that a companion can save up, or can owe after a long step."""


class Stepwise(Protocol):
    """Work that goes on whenever :meth:`step` is called, until it is finished."""

    @abstractmethod
    def step(self, deadline: float) -> bool:
        """Work until about ``deadline`` (a moment of time.monotonic()), a few milliseconds more or less.
        Returns True when the work is finished."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The facts about one batch of the tree that companions get.

    Attributes:
        seconds: CPU seconds that it took.
        left: seconds to the end of the turn.
        length: mean number of moves from the root to the end of the match.
        mean: mean result of the role, 0..1.
    """

    seconds: float
    left: float
    length: float
    mean: float


class Companion(Stepwise, ABC):
    """Works in steps between the batches of a search tree.

    Attributes:
        name: shown to people.
        least: the fewest CPU seconds for a step.
        value: the proven result of the role from the root of the search, 0..100; -1 while it is unknown.
        news: whether the search should look at the results of the last step.
    """

    name: ClassVar[str] = ""
    least: ClassVar[float] = 0.02
    value: int = -1
    news: bool = False

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether there is anything to do."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """CPU seconds that it earns for each CPU second of the tree."""

    def opening_credit(self, left: float, credit: float) -> float:
        """The credit with which a turn begins, ``left`` seconds before its deadline. By default this is
        ``credit``, the credit at the end of the last turn."""
        return credit

    def note_batch(self, report: BatchReport) -> None:
        """Learn from a batch of the tree."""


class TimeShares:
    """Divides time between a tree and its companions.

    >>> shares = TimeShares()
    >>> shares.turn(deadline=time.monotonic() + 1.0) is None  # no companion has joined
    True
    """

    def __init__(self) -> None:
        self._credit: dict[Companion, float] = {}
        self._opened = False

    def join(self, companion: Companion, credit: float = 0.0) -> None:
        """Give this companion time from now on, and ``credit`` CPU seconds before the tree begins."""
        self._credit[companion] = credit

    def leave(self, companion: Companion) -> float:
        """Give this companion no more time. Returns the CPU seconds it had left."""
        return self._credit.pop(companion, 0.0)

    def new_turn(self) -> None:
        """Begin a turn; its deadline is that of the next :meth:`turn`."""
        self._opened = False

    @property
    def value(self) -> int:
        """The best value that a companion has proven; -1 if none has proven any."""
        return max((companion.value for companion in self._credit), default=-1)

    def note_batch(self, report: BatchReport) -> None:
        """Report a batch of the tree to all companions, and credit them for it."""
        for companion, credit in self._credit.items():
            companion.note_batch(report)
            earned = credit + report.seconds * companion.rate
            self._credit[companion] = min(earned, max(credit, MOST_CREDIT))

    def turn(self, deadline: float) -> Companion | None:
        """Let the companion with the most credit per ``least`` work. Returns it; None if no companion is due
        or the deadline (time.monotonic()) has passed."""
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        if not self._opened:
            self._opened = True
            for companion, credit in self._credit.items():
                self._credit[companion] = companion.opening_credit(left, credit)
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

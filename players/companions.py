"""`Companion`: what works beside a search tree; `TimeShares`: the one place that shares out the time.

Proof search, puzzle solvers and trials of rollout policies are companions. The tree works in batches. For
each CPU second of a batch a companion is owed some of its own (its *rate*). Once what it is owed is worth a
step, the step comes before the next batch.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

MOST_CREDIT, MOST_DEBT = 1.0, 0.5
"""Most CPU seconds that a companion can save up, and that it can owe after a long step."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What one batch of the tree tells the companions.

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


class Companion(ABC):
    """Works beside a search tree, in steps.

    Attributes:
        name: for people.
        least: the fewest CPU seconds for a step.
        value: what the role is proven to get from the root of the search, 0..100; -1 while that is unknown.
    """

    name: ClassVar[str] = ""
    least: ClassVar[float] = 0.02
    value: int = -1

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether there is anything to do."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """CPU seconds owed to it for each one of the tree."""

    def opening_credit(self, left: float, credit: float) -> float:
        """What it is owed when a turn begins, ``left`` seconds before its deadline. ``credit``, what it was
        owed at the end of the last turn, stays unless it says otherwise."""
        return credit

    def note_batch(self, report: BatchReport) -> None:
        """Learn from a batch of the tree."""

    @abstractmethod
    def step(self, seconds: float, deadline: float) -> bool:
        """Work for about so many CPU seconds, at most until about the deadline (time.monotonic()).
        Returns whether the search should look at what it has found."""


class TimeShares:
    """Shares out time between a tree and its companions.

    >>> shares = TimeShares()
    >>> shares.step(deadline=time.monotonic() + 1.0) is None  # nobody is here
    True
    """

    def __init__(self) -> None:
        self._credit: dict[Companion, float] = {}
        self._opened = False

    def join(self, companion: Companion) -> None:
        """From now on this one is owed time."""
        self._credit[companion] = 0.0

    def leave(self, companion: Companion) -> None:
        """This one is owed nothing any more."""
        self._credit.pop(companion, None)

    def new_turn(self) -> None:
        """A turn begins; its deadline is that of the next :meth:`step`."""
        self._opened = False

    @property
    def value(self) -> int:
        """The best value that a companion has proven; -1 if none has proven any."""
        return max((companion.value for companion in self._credit), default=-1)

    def note_batch(self, report: BatchReport) -> None:
        """Tell all companions of a batch of the tree, and owe them for it."""
        for companion, credit in self._credit.items():
            companion.note_batch(report)
            earned = credit + report.seconds * companion.rate
            self._credit[companion] = min(earned, max(credit, MOST_CREDIT))

    def step(self, deadline: float) -> tuple[Companion, bool] | None:
        """Let the companion work that is owed the most for its ``least``. Returns it, and whether the search
        should look at what it has found; None where none is due or the deadline (time.monotonic()) has
        passed."""
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
        news = companion.step(credit, deadline)
        # A step that found too little time is paid for, too: else it would be asked again and again.
        spent = max(time.thread_time() - began, companion.least)
        self._credit[companion] = max(credit - spent, -MOST_DEBT)
        return companion, news

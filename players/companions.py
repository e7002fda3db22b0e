"""`Stepwise`: work in slices of time. `TurnTaker`: such work in turns with other work, by shares of the time.
`Companion`: such work in turns with a search tree.

Puzzle solvers are the companions in games of one role, trials of rollout policies in others. The tree works
in batches. Each CPU second of a batch earns the companion some CPU time of its own (its *rate*). Once it has
earned enough time for a step, the step runs before the next batch (`TimeShare`).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar, Generic, Protocol, TypeVar

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
        opening: share of the time to the first deadline that it gets before the tree.
    """

    least: ClassVar[float] = 0.02
    rate: ClassVar[float] = 1.0
    opening: ClassVar[float] = 0.0

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether there is anything to do."""


class TimeShare:
    """The time of a companion beside a tree.

    Attributes:
        credit: CPU seconds that it may use before the tree goes on; negative while it owes some.
    """

    def __init__(self, companion: Companion, credit: float = 0.0) -> None:
        self.credit = credit
        self._companion = companion
        self._opened = False

    def earn(self, seconds: float) -> None:
        """Credit the companion for a batch of the tree that took this many CPU seconds."""
        earned = self.credit + seconds * self._companion.rate
        self.credit = min(earned, max(self.credit, MOST_CREDIT))

    def turn(self, deadline: float) -> bool:
        """Let the companion work if it is due and the deadline (time.monotonic()) has not passed. Returns
        whether it worked."""
        companion, left = self._companion, deadline - time.monotonic()
        if left <= 0:
            return False
        if not self._opened:
            self._opened = True
            self.credit += companion.opening * left
        if self.credit < companion.least or not companion.active:
            return False
        began = time.thread_time()
        companion.step(min(deadline, time.monotonic() + self.credit))
        # A step that found too little time is charged, too; otherwise it would be tried again and again.
        spent = max(time.thread_time() - began, companion.least)
        self.credit = max(self.credit - spent, -MOST_DEBT)
        return True


_LEAST_SECONDS = 0.001
"""The least CPU seconds charged for a turn: work that does nothing must let the others work."""

_Work = TypeVar("_Work", bound=Stepwise)


class TurnTaker(Stepwise, Generic[_Work]):
    """One of several pieces of work.

    Args:
        name: shown to people.
        weight: its share of the time, relative to the others'.
        begin: makes the work when its first turn comes.

    Attributes:
        seconds: CPU seconds that it has used.
        begun: whether its first turn has come.
    """

    def __init__(self, name: str, weight: float, begin: Callable[[], _Work]) -> None:
        self.name, self.weight = name, weight
        self.seconds = 0.0
        self._begin = begin
        self._work: _Work | None = None

    @property
    def begun(self) -> bool:
        return self._work is not None

    @property
    def work(self) -> _Work:
        """The work, made if need be."""
        if self._work is None:
            self._work = self._begin()
        return self._work

    def step(self, deadline: float) -> bool:
        """Work as :class:`Stepwise` says, on its own account."""
        clock = time.thread_time()
        finished = self.work.step(deadline)
        self.seconds += max(_LEAST_SECONDS, time.thread_time() - clock)
        return finished


def next_turn(taking: Iterable[TurnTaker[_Work]]) -> TurnTaker[_Work]:
    """The one that has used the least time for its weight."""
    return min(taking, key=lambda one: one.seconds / one.weight)

"""`TurnTaker`: work that takes turns with other work by shares of the CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from players.companions import Stepwise

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
        """Work as :class:`~players.companions.Stepwise` says, on its own account."""
        clock = time.thread_time()
        finished = self.work.step(deadline)
        self.seconds += max(_LEAST_SECONDS, time.thread_time() - clock)
        return finished


def next_turn(taking: Iterable[TurnTaker[_Work]]) -> TurnTaker[_Work]:
    """The one that has used the least time for its weight."""
    return min(taking, key=lambda one: one.seconds / one.weight)

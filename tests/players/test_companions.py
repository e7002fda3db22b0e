"""Time beside the tree: each companion gets what it is owed, and nobody starves."""

from __future__ import annotations

import time

import pytest

from players.companions import MOST_CREDIT, MOST_DEBT, Companion, TimeShares


class Clock:
    """CPU time that only moves when a companion works."""

    def __init__(self) -> None:
        self.cpu = 0.0

    def thread_time(self) -> float:
        return self.cpu

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("players.companions.time", made)
    return made


class Worker(Companion):
    least = 0.02

    def __init__(self, clock: Clock, rate: float, takes: float = 1.0, opening: float = 0.0) -> None:
        self._clock, self._takes = clock, takes
        self.rate, self.opening = rate, opening  # type: ignore[misc]
        self.used = 0.0
        self.steps = 0
        self.on = True

    @property
    def active(self) -> bool:
        return self.on

    def step(self, deadline: float) -> bool:
        seconds = deadline - self._clock.monotonic()
        self.steps += 1
        self.used += seconds * self._takes
        self._clock.cpu += seconds * self._takes
        return False


_BATCH = 0.01
"""CPU seconds of a batch of the tree."""


def test_each_gets_its_rate_of_the_time_of_the_tree(clock: Clock) -> None:
    shares = TimeShares()
    twice, half = Worker(clock, 2.0), Worker(clock, 0.5)
    shares.join(twice)
    shares.join(half)
    for _ in range(1000):
        shares.earn(_BATCH)
        while shares.turn(1.0):
            pass
    assert twice.used == pytest.approx(20.0, rel=0.01)
    assert half.used == pytest.approx(5.0, rel=0.01)


def test_what_took_too_long_is_paid_back_but_not_for_ever(clock: Clock) -> None:
    shares = TimeShares()
    slow = Worker(clock, 1.0, takes=3.0)
    shares.join(slow)
    for _ in range(1000):
        shares.earn(_BATCH)
        while shares.turn(1.0):
            pass
    assert slow.used == pytest.approx(10.0, rel=0.05)
    slow._takes = 1000.0
    for _ in range(int((MOST_DEBT + 3 * slow.least) / _BATCH)):
        shares.earn(_BATCH)
        while shares.turn(1.0):
            pass
    assert slow.steps
    before = slow.steps
    for _ in range(int((MOST_DEBT + 2 * slow.least) / _BATCH) + 1):
        shares.earn(_BATCH)
        shares.turn(1.0)
    assert slow.steps > before


def test_one_that_rests_saves_up_little_and_one_that_leaves_is_owed_nothing(clock: Clock) -> None:
    shares = TimeShares()
    worker = Worker(clock, 1.0)
    shares.join(worker)
    worker.on = False
    for _ in range(1000):
        shares.earn(_BATCH)
        assert shares.turn(1.0) is None
    worker.on = True
    assert shares.turn(1.0) is worker
    assert worker.used == pytest.approx(MOST_CREDIT)
    shares.earn(_BATCH)
    shares.leave(worker)
    assert shares.turn(1.0) is None


def test_a_share_of_the_time_to_the_first_deadline_opens_and_none_steps_after_a_deadline(
    clock: Clock,
) -> None:
    shares = TimeShares()
    worker = Worker(clock, 0.0, opening=0.1)
    shares.join(worker)
    assert shares.turn(-1.0) is None
    assert shares.turn(2.0) is worker
    assert shares.turn(4.0) is None
    assert worker.used == pytest.approx(0.2)


def test_a_step_without_work_is_paid_for() -> None:
    class Lazy(Worker):
        def step(self, deadline: float) -> bool:
            self.steps += 1
            return False

    shares = TimeShares()
    lazy = Lazy(Clock(), 0.0, opening=0.1)
    shares.join(lazy)
    deadline = time.monotonic() + 10.0
    while shares.turn(deadline):
        pass
    assert lazy.steps <= 10.0 * 0.1 / lazy.least


def test_one_that_joins_with_credit_works_before_the_tree_and_takes_along_what_is_left(clock: Clock) -> None:
    shares = TimeShares()
    first, other = Worker(clock, 1.0), Worker(clock, 1.0)
    shares.join(first, 6.0)
    shares.join(other)
    while shares.turn(2.0):
        pass
    assert first.used == pytest.approx(6.0, abs=first.least) and not other.used
    shares.join(other, 6.0)
    assert shares.turn(2.0) is other
    assert shares.leave(other) == pytest.approx(4.0)

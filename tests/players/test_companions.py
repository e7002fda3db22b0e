"""Time: batches are never planned late; a companion gets its share, pays what it owes, and never starves."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.batch_pace import Pace
from players.companions import MOST_CREDIT, MOST_DEBT, Companion, TimeShare

BATCH = 0.01
"""CPU seconds of a batch of the tree."""


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


def after(share: TimeShare, batches: int) -> None:
    for _ in range(batches):
        share.earn(BATCH)
        while share.turn(1.0):
            pass


@pytest.mark.parametrize("rate", [2.0, 0.5])
def test_a_companion_gets_its_rate_of_the_time_of_the_tree(clock: Clock, rate: float) -> None:
    worker = Worker(clock, rate)
    after(TimeShare(worker), 1000)
    assert worker.used == pytest.approx(10.0 * rate, rel=0.01)


def test_what_took_too_long_is_paid_back_but_not_for_ever(clock: Clock) -> None:
    slow = Worker(clock, 1.0, takes=3.0)
    share = TimeShare(slow)
    after(share, 1000)
    assert slow.used == pytest.approx(10.0, rel=0.05)
    slow._takes = 1000.0
    after(share, int((MOST_DEBT + 3 * slow.least) / BATCH))
    before = slow.steps
    after(share, int((MOST_DEBT + 2 * slow.least) / BATCH) + 1)
    assert slow.steps > before


def test_one_that_rests_saves_up_little(clock: Clock) -> None:
    worker = Worker(clock, 1.0)
    share = TimeShare(worker)
    worker.on = False
    after(share, 1000)
    assert not worker.used
    worker.on = True
    assert share.turn(1.0)
    assert worker.used == pytest.approx(MOST_CREDIT)


def test_a_share_of_the_time_to_the_first_deadline_opens_and_none_steps_after_a_deadline(
    clock: Clock,
) -> None:
    worker = Worker(clock, 0.0, opening=0.1)
    share = TimeShare(worker)
    assert not share.turn(-1.0)
    assert share.turn(2.0)
    assert not share.turn(4.0)
    assert worker.used == pytest.approx(0.2)


def test_a_step_without_work_is_paid_for() -> None:
    class Lazy(Worker):
        def step(self, deadline: float) -> bool:
            self.steps += 1
            return False

    lazy = Lazy(Clock(), 0.0, opening=0.1)
    share = TimeShare(lazy)
    deadline = time.monotonic() + 10.0
    while share.turn(deadline):
        pass
    assert lazy.steps <= 10.0 * 0.1 / lazy.least


def test_one_with_credit_works_before_the_tree_and_what_is_left_is_known(clock: Clock) -> None:
    worker = Worker(clock, 1.0)
    share = TimeShare(worker, 6.0)
    assert share.turn(2.0)
    assert share.credit == pytest.approx(4.0)
    while share.turn(2.0):
        pass
    assert worker.used == pytest.approx(6.0, abs=worker.least)


# --- What batches cost is found out again after a slow one, and no batch is planned that would be late
def test_pace_recovers_from_one_slow_batch_in_the_next_turns() -> None:
    pace = Pace(512, 512)
    pace.learn(512, 10.0, 32, 0, 1.0)
    for turn in range(20):  # noqa: B007
        count, steps = pace.plan(1.0, True)
        if count:
            pace.learn(count, 0.0001 * steps, min(steps, 32), 0, 1.0)
        if steps >= 32:
            break
    assert turn < 19


@pytest.mark.parametrize("width", [1, 512])
@given(data=st.data())
def test_pace_never_plans_what_it_expects_to_be_late(width: int, data: st.DataObject) -> None:
    pace = Pace(width, 512)
    per_step = data.draw(st.floats(1e-5, 1e-2))
    doubted = False
    for _ in range(30):
        left = data.draw(st.floats(-0.1, 2.0))
        count, steps = pace.plan(left, data.draw(st.booleans()))
        longest = min(steps, 50)
        seconds = per_step * longest * (count if width == 1 else 1)
        # What allowed for nothing at all in a turn is doubted, and tried out in the next one.
        if count and pace._step_seconds and not doubted:
            assert seconds <= max(left, 0.0) + 0.1
        doubted = not count
        if count:
            pace.learn(count, seconds, longest, 0, left)


@pytest.mark.parametrize("width", [1, 512])
def test_pace_recovers_from_one_slow_batch_in_the_same_turn(width: int) -> None:
    """A turn of 10 s in which something was compiled for 8 s: the 2 s that were left once stayed idle."""
    pace = Pace(width, 512, 1e-5)
    count, _ = pace.plan(10.0, True)
    left = 10.0 - 8.0
    pace.learn(count, 8.0, 30, 0, left)
    batches = 0
    while left > 0.1 and batches < 1000:
        count, steps = pace.plan(left, False)
        assert count, f"idle {left:.2f} s before the deadline"
        longest = min(steps, 30)
        seconds = 1e-4 * longest
        pace.learn(count, seconds, longest, 0, left)
        left, batches = left - seconds, batches + 1
    assert pace.plan(1.0, False)[1] >= 30

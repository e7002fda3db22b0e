"""What batches cost is found out again after a slow one, and no batch is planned that would be late."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.batch_pace import Pace


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

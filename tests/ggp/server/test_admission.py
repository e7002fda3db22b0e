"""What standbys of some rules needed is kept by their text, and there is no end of texts; a match is admitted
where the standbys of all matches can be in time."""

from __future__ import annotations

import asyncio
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.protocol.messages import Start
from ggp.server import admission
from ggp.server.admission import FADING, LEAST, SHARE, Admission, Remembered, StandbyNeed


@given(st.lists(st.tuples(st.text(max_size=3), st.integers())))
def test_the_last_that_was_noted_is_known(notes: list[tuple[str, int]]) -> None:
    memory: Remembered[int] = Remembered()
    for text, fact in notes:
        memory.note(text, fact)
    for text, fact in dict(notes).items():
        assert memory.recall(text, fact + 1) == fact


def test_only_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST", 3)
    memory: Remembered[int] = Remembered()
    for number in (0, 1, 2, 0, 3):
        memory.note(str(number), number)
    assert [memory.recall(str(number), -1) for number in range(5)] == [0, -1, 2, 3, -1]


class Need(StandbyNeed):
    """Is measured when it is waited for."""

    asked = 0

    async def known(self, until: float) -> None:
        self.asked += 1
        await asyncio.sleep(0)


class Match:
    """A match whose standby is measured when it is waited for."""

    def __init__(self, share: float, rules: str = "") -> None:
        self.start = Start("m", "robot", rules, 1, 1)
        self.admitted = False
        self.need, self.ready_by = Need(), 0.0
        self._share = share

    @property
    def share_needed(self) -> float:
        return self._share if self.need.asked or self.admitted else math.inf


@given(st.lists(st.floats(0.001, 2.0), max_size=12), st.integers(1, 4))
def test_those_admitted_together_never_need_more_than_there_is(shares: list[float], processors: int) -> None:
    async def body() -> None:
        admission, running = Admission(processors), [Match(share) for share in shares]
        # All at once, as managers send them.
        answers = await asyncio.gather(*(admission.admit(match, lambda: running) for match in running))
        admitted = [match for match, yes in zip(running, answers, strict=True) if yes]
        assert [match.admitted for match in running] == answers
        assert not running or admitted[:1] == running[:1]
        needed = [match._share for match in admitted]
        assert len(needed) < 2 or sum(needed) <= SHARE * processors + 1e-9
        for match in running:
            if not match.admitted:
                assert sum(needed) + match._share > SHARE * processors - 1e-9

    asyncio.run(body())


async def test_a_match_alone_is_admitted_without_a_look_and_a_second_one_is_measured() -> None:
    admission = Admission(1)
    slow, other = Match(100.0), Match(0.01)
    assert await admission.admit(slow, lambda: [slow])
    assert not slow.need.asked
    assert not admission.room([slow])
    assert not await admission.admit(other, lambda: [slow, other])
    assert other.need.asked == 1
    assert await admission.admit(other, lambda: [other])


async def test_rules_that_were_measured_are_refused_before_anything_is_started() -> None:
    """A manager that asks every second for a match there is no room for took from those that were played."""

    admission, running = Admission(1), [Match(0.4)]
    assert await admission.admit(running[0], lambda: running)
    again, small = Match(0.3, "( large )"), Match(0.05, "( small )")
    assert not admission.refuses(again, running)
    assert not await admission.admit(again, lambda: [*running, again])
    assert admission.refuses(Match(0.3, "( large )"), running)
    assert not admission.refuses(Match(0.3, "( large )"), [])
    assert await admission.admit(small, lambda: [*running, small])
    assert not admission.refuses(Match(0.05, "( small )"), running)


async def test_what_was_never_measured_is_not_admitted_beside_others() -> None:
    first, second = Match(0.01), Match(0.01)
    admission = Admission(8)
    assert await admission.admit(first, lambda: [first])
    second.need.known = first.need.known  # type: ignore[method-assign]
    assert not await admission.admit(second, lambda: [first, second])


@given(st.floats(0.0, 5.0), st.lists(st.floats(0.0, 5.0), min_size=1, max_size=30))
def test_a_need_is_the_peak_of_what_was_measured_and_fades_to_that_of_a_whole_game(
    lasting: float, seconds: list[float]
) -> None:
    async def body() -> None:
        need = StandbyNeed()
        for each in seconds:
            need.note(each)
            # Turns of a match do not say what those to come need.
            assert math.isinf(need.share(1.0))
        need.practised(0.0, lasting, True)
        peak = max(each * FADING ** (len(seconds) - turn) for turn, each in enumerate(seconds))
        assert need.seconds == pytest.approx(max(peak, lasting))
        assert need.share(0.5) == pytest.approx(2 * (need.seconds + LEAST))
        for _ in range(100):
            need.note(0.0)
        assert need.seconds == pytest.approx(lasting, abs=1e-3)

    asyncio.run(body())


async def test_waiting_for_a_measure_ends_with_a_whole_game_or_with_the_time() -> None:
    need = StandbyNeed()
    await need.known(time.monotonic())
    waiting = asyncio.create_task(need.known(time.monotonic() + 600.0))
    await asyncio.sleep(0)
    need.note(0.1)
    need.practised(0.1, 0.1, False)
    await asyncio.sleep(0)
    assert not waiting.done()
    need.practised(0.3, 0.2, True)
    await waiting
    assert need.seconds == 0.3

"""Turns, margins, ranks and admission: what a server decides without any process."""

from __future__ import annotations

import asyncio
import math
import socket
import sys
import time
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.protocol.messages import NO_MOVE, Start
from ggp.server import admission
from ggp.server.admission import FADING, SHARE, Admission, Ranks, Remembered, StandbyNeed
from ggp.server.admission import LEAST as LEAST_NEED
from ggp.server.margin import LEAST, MOST, NEAR_LEAST, Margin, round_trip
from ggp.server.supervised_process import SupervisedProcess
from ggp.server.turn import Phase, Turn
from players.processes.limits import BEHIND, USUAL, WAITS

EVENTS: dict[str, Callable[[Turn], object]] = {
    "safe": lambda turn: turn.name_safe("a"),
    "press": Turn.press,
    "stand in": Turn.stand_in,
    "move": lambda turn: turn.take_move("b"),
    "close": Turn.close,
}


def turn(*events: str, before: Turn | None = None) -> Turn:
    """A turn to which this has happened. To be called while an event loop runs."""
    begun = Turn(before, None, None, 0.0, 10.0, 1.0)
    for event in events:
        EVENTS[event](begun)
    return begun


def run(test: Callable[[], None]) -> None:
    async def body() -> None:
        test()

    asyncio.run(body())


@pytest.mark.parametrize(
    ("events", "phase", "answer"),
    [
        ("", Phase.THINKING, None),
        ("safe", Phase.SAFE, None),
        ("safe,safe", Phase.SAFE, None),
        ("press", Phase.PRESSED, None),
        ("press,safe", Phase.PRESSED, None),
        ("move", Phase.ANSWERED, "b"),
        ("safe,move", Phase.ANSWERED, "b"),
        ("press,move", Phase.ANSWERED, "b"),
        ("move,safe,move", Phase.ANSWERED, "b"),
        ("safe,stand in", Phase.OVERDUE, "a"),
        ("press,safe,stand in", Phase.OVERDUE, "a"),
        ("press,stand in", Phase.OVERDUE, NO_MOVE),
        ("stand in", Phase.OVERDUE, NO_MOVE),
        ("press,stand in,safe", Phase.OVERDUE, NO_MOVE),
        ("safe,stand in,move", Phase.CLOSED, "a"),
        ("safe,stand in,move,move", Phase.CLOSED, "a"),
        ("close", Phase.CLOSED, NO_MOVE),
        ("safe,close,close", Phase.CLOSED, "a"),
        ("move,close", Phase.CLOSED, "b"),
    ],
)
async def test_phases_follow_each_other(events: str, phase: Phase, answer: str | None) -> None:
    seen = turn(*filter(None, events.split(",")))
    assert seen.phase is phase
    assert (seen.answer.result() if seen.answered else None) == answer


@pytest.mark.parametrize(
    "events",
    ["safe,press", "press,press", "move,press", "move,stand in", "safe,stand in,stand in",
     "press,stand in,press", "close,press", "close,stand in"],
)  # fmt: skip
async def test_what_cannot_follow_is_refused(events: str) -> None:
    *first, last = events.split(",")
    seen = turn(*first)
    phase = seen.phase
    with pytest.raises(RuntimeError, match="does not follow"):
        EVENTS[last](seen)
    assert seen.phase is phase


@given(st.lists(st.sampled_from(list(EVENTS)), max_size=8))
def test_a_manager_has_its_answer_from_one_phase_on_and_it_stays(events: list[str]) -> None:
    def test() -> None:
        seen = turn()
        answer = None
        for event in events:
            try:
                EVENTS[event](seen)
            except RuntimeError:
                continue
            assert seen.answered == (seen.phase in (Phase.ANSWERED, Phase.OVERDUE, Phase.CLOSED))
            assert answer is None or seen.answer.result() == answer
            answer = seen.answer.result() if seen.answered else None

    run(test)


async def test_the_watchdog_prefers_what_is_legal_to_a_guess_and_never_names_a_move_of_the_turn_before() -> (
    None
):
    seen = turn("press", before=turn("safe", "close"))
    assert seen.stand_in() == NO_MOVE
    assert seen.request()["answered"] == "a"
    for checked, guess, answer in ((None, "g", "g"), ("c", "g", "c"), ("c", None, "c")):
        seen = turn("press")
        seen.checked, seen.guess = checked, guess
        assert seen.stand_in() == answer
        seen = turn()
        seen.checked, seen.guess = checked, guess
        seen.close()
        assert seen.answer.result() == (checked or NO_MOVE)


async def test_the_watchdog_names_what_the_player_thinks_best_so_far() -> None:
    seen = turn("safe")
    seen.best = "b"
    assert seen.stand_in() == "b"


async def test_the_watchdog_leaves_time_to_send_and_comes_after_the_deadline() -> None:
    seen = turn()
    for margin in (0.02, 0.08, 0.3, 3.0):
        seen.due, seen.deadline = 100.0, 100.0 - margin
        assert seen.deadline < seen.watched_from < seen.last_moment < seen.due
        assert seen.due - seen.watched_from >= min(0.06, 0.8 * margin) - 1e-9


async def test_a_closed_turn_does_nothing_more() -> None:
    calls: list[Turn] = []
    for event in ("move", "close"):
        seen = turn()
        seen.call_at(0.0, calls.append)
        EVENTS[event](seen)
    seen = turn("safe")
    seen.call_at(0.0, calls.append)
    await asyncio.sleep(0.01)
    assert calls == [seen]


# --- The margin before the end of a clock follows what is measured, within bounds
delays = st.floats(0.0, 100.0)


def test_the_configured_margin_counts_at_first_and_at_most_a_quarter_of_the_clock() -> None:
    margin = Margin(0.8)
    assert margin.spare_time(10) == 0.8
    assert margin.spare_time(1) == 0.25


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(0.0001, NEAR_LEAST, NEAR_LEAST + 0.02), (0.002, LEAST, LEAST + 0.03)]
)
def test_a_quick_connection_gets_a_smaller_margin_turn_by_turn_and_keeps_more_over_a_network(
    seconds: float, least: float, most: float
) -> None:
    margin = Margin(0.8)
    margins = []
    for _ in range(60):
        margin.round_trip(seconds)
        margin.overshoot(0.002)
        margins.append(margin.spare_time(10))
    assert margins == sorted(margins, reverse=True)
    assert least < margins[-1] < most


def test_a_slow_connection_gets_a_larger_one_at_once() -> None:
    margin = Margin(0.8)
    margin.round_trip(0.3)
    assert margin.spare_time(10) == pytest.approx(LEAST + 1.2)
    assert margin.spare_time(2) == 1.0, "half of the clock at most"


def test_a_delay_is_forgotten_in_time() -> None:
    margin = Margin(0.3)
    margin.lag(0.8)
    assert margin.spare_time(60) > 1.5
    for _ in range(60):
        margin.round_trip(0.0)
        margin.overshoot(0.0)
    assert margin.spare_time(60) == pytest.approx(NEAR_LEAST, abs=1e-3)


def test_without_round_trips_the_configured_margin_stays() -> None:
    margin = Margin(0.8)
    for _ in range(60):
        margin.round_trip(None)
        margin.overshoot(0.0)
    assert margin.spare_time(10) == 0.8


@given(
    st.floats(0.0, 10.0),
    st.lists(st.tuples(st.sampled_from(["round_trip", "lag", "overshoot"]), delays)),
    st.integers(1, 10_000),
)
def test_whatever_is_measured_half_of_the_clock_is_left(
    configured: float, noted: list[tuple[str, float]], clock: int
) -> None:
    margin = Margin(configured)
    for kind, seconds in noted:
        getattr(margin, kind)(seconds)
    assert 0.0 <= margin.spare_time(clock) <= clock / 2
    assert margin.delay <= 3 * MOST


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells round trips")
def test_the_round_trip_of_a_connection_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), server.accept()[0] as ours:
            seconds = round_trip(ours)
            assert seconds is not None
            assert 0.0 < seconds < 10.0
    assert round_trip(ours) is None, "it is closed"
    assert round_trip(None) is None


# --- Standbys that are asked go before standbys that play at random, and before the thinking of others
class Process:
    """A process that is ranked."""

    def __init__(self) -> None:
        self.alive, self.heard, self.nice = True, 0, USUAL

    def rank(self, nice: int) -> None:
        self.nice = nice


class Asked:
    """A turn that was asked for."""

    def __init__(self, number: int) -> None:
        self.id, self.answered = number, False


def ranked() -> tuple[Ranks, Process, Process]:
    main, standby = Process(), Process()
    both = Ranks(cast(SupervisedProcess, main), cast(SupervisedProcess, standby))
    return both, main, standby


def test_a_standby_that_plays_at_random_waits_until_it_is_asked_and_again_when_it_has_answered() -> None:
    ranks, _, standby = ranked()
    ranks.practises(True, None)
    assert standby.nice == WAITS
    turn = Asked(1)
    ranks.asked(cast(Turn, turn))
    assert standby.nice == USUAL
    standby.heard = 1
    ranks.asked(cast(Turn, turn))
    assert standby.nice == WAITS
    ranks.practises(False, cast(Turn, turn))
    assert standby.nice == USUAL


@pytest.mark.parametrize(
    ("alive", "behind", "rests", "nice"),
    [
        (True, True, False, WAITS),
        (True, True, True, BEHIND),
        (False, True, True, USUAL),
        (True, False, True, USUAL),
    ],
)
def test_thinking_waits_where_there_is_a_standby_and_rests_where_one_has_no_move(
    alive: bool, behind: bool, rests: bool, nice: int
) -> None:
    ranks, main, standby = ranked()
    standby.alive = alive
    ranks.thinks(behind, rests)
    assert main.nice == nice


# --- What standbys needed is kept; a match is admitted where the standbys of all matches can be in time
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


async def test_a_match_that_waits_is_not_refused_for_one_that_came_after_it_and_is_not_measured() -> None:
    """Under fire rules that cannot be played came and went, and each was alone for a moment."""
    admission, match, second = Admission(1), Match(0.1), Match(0.1)
    first = Match(0.1)
    running = [first, match]
    assert await admission.admit(first, lambda: running)
    waits = asyncio.create_task(admission.admit(match, lambda: running))
    await asyncio.sleep(0)
    running[0] = second
    second._share = math.inf  # until it is waited for
    assert await admission.admit(second, lambda: running)
    known = second.need.known

    async def measured(until: float) -> None:
        await known(until)
        second._share = 0.1

    second.need.known = measured  # type: ignore[method-assign]
    assert await waits


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
        assert need.share(0.5) == pytest.approx(2 * (need.seconds + LEAST_NEED))
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

"""The phases of a turn: which follow which, and what the manager is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.protocol.messages import NO_MOVE
from ggp.server.turn import Phase, Turn

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

"""Work for strangers is admitted as long as it fits; few processes do it, one order each at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.processes.budget import Reservation, WorkBudget, WorkNeed
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import GivenUpError, Workers, WorkKind
from ggp.protocol.http_error import BusyError
from players.processes.lifeline import children

MIB = 1024**2


async def nothing() -> None:
    """Ends what has ended."""


@given(needs=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 900)), max_size=30))
def test_never_more_is_reserved_than_there_is(needs: list[tuple[int, int]]) -> None:
    budget = WorkBudget(16, 2000 * MIB)
    held: list[Reservation] = []

    async def ask(processes: int, memory: int) -> None:
        need = WorkNeed(processes, memory * MIB)
        with contextlib.suppress(BusyError):
            held.append(await budget.reserve("work", need, lambda: False, nothing))

    async def run() -> None:
        await asyncio.gather(*(ask(*need) for need in needs))
        assert budget.reserved.processes <= budget.processes
        assert budget.reserved.memory <= budget.memory
        for one in held:
            one.release()
            one.release()
        assert budget.reserved == WorkNeed(0, 0)

    asyncio.run(run())


async def test_who_is_idle_makes_room_and_counts_until_it_has_ended() -> None:
    budget = WorkBudget(1, 2**30)
    ended = asyncio.Event()

    async def end() -> None:
        await ended.wait()

    await budget.reserve("first", WorkNeed(), lambda: True, end)
    second = asyncio.create_task(budget.reserve("second", WorkNeed(), lambda: False, nothing))
    await asyncio.sleep(0.01)
    assert budget.reserved.processes == 1
    assert not second.done()
    ended.set()
    await second
    with pytest.raises(BusyError, match="third") as raised:
        await budget.reserve("third", WorkNeed(), lambda: False, nothing)
    assert raised.value.status == 503


async def test_what_comes_alone_is_let_in_on_a_small_computer() -> None:
    budget = WorkBudget(1, MIB)
    await budget.reserve("first", WorkNeed(4, 1000 * MIB), lambda: False, nothing)
    with pytest.raises(BusyError):
        await budget.reserve("second", WorkNeed(), lambda: False, nothing)


async def test_the_memory_of_the_own_process_is_part_of_the_budget() -> None:
    budget = WorkBudget(8, 100)
    await budget.reserve("one", WorkNeed(1, 40), lambda: False, nothing)
    budget.own = 30
    await budget.reserve("two", WorkNeed(1, 30), lambda: False, nothing)
    budget.own = 31
    with pytest.raises(BusyError):
        await budget.reserve("three", WorkNeed(1, 0), lambda: False, nothing)


# --- Workers: few processes, one order each at a time; what is too much, too long or given up is told
KIND = WorkKind("tests.ggp.processes.sums", "the sum", most=2, seconds=20.0, waiting=3)


@pytest.fixture
def workers(loop: asyncio.Runner) -> Iterator[Workers]:
    """Workers that leave no process behind."""
    before = set(children(os.getpid()))
    begun = Workers(KIND, WorkBudget(8, 2**32))
    yield begun
    loop.run(begun.close())
    assert set(children(os.getpid())) <= before


def plus(a: int, b: int, seconds: float = 0.0) -> JsonMessage:
    return {"do": "plus", "a": a, "b": b, "seconds": seconds}


async def test_orders_are_answered_one_after_the_other_with_their_news(workers: Workers) -> None:
    told: list[JsonMessage] = []
    answers = await asyncio.gather(*(workers.ask("x", plus(i, 1), news=told.append) for i in range(3)))
    assert [answer["sum"] for answer in answers] == [1, 2, 3]
    assert [message["adds"] for message in told] == [[0, 1], [1, 1], [2, 1]]
    with pytest.raises(GdlError, match="not numbers"):
        await workers.ask("x", {"do": "plus", "a": "1", "b": 2, "seconds": 0})
    with pytest.raises(GdlError, match="ended early"):
        await workers.ask("x", {"do": "die"})
    assert (await workers.ask("x", plus(20, 22)))["sum"] == 42


async def test_what_takes_too_long_or_is_asked_instead_is_given_up(workers: Workers) -> None:
    with pytest.raises(GdlError, match=r"the sum takes longer than 0\.3 s"):
        await workers.ask("x", plus(1, 2, 60.0), seconds=0.3)
    slow = asyncio.create_task(workers.ask("x", plus(1, 2, 60.0)))
    await asyncio.sleep(0.05)
    assert (await workers.ask("x", plus(3, 4), instead=True))["sum"] == 7
    with pytest.raises(GivenUpError):
        await slow


async def test_too_many_orders_and_too_many_keys_are_refused_and_idle_processes_make_room(
    workers: Workers,
) -> None:
    for key in "abcd":
        assert (await workers.ask(key, plus(1, 1)))["sum"] == 2
        assert len(workers._processes) <= KIND.most
    slow = [asyncio.create_task(workers.ask("a", plus(1, 2, 60.0))) for _ in range(3)]
    slow.append(asyncio.create_task(workers.ask("b", plus(1, 2, 60.0))))
    await asyncio.sleep(0.3)
    with pytest.raises(GdlError, match="too much is asked"):
        await workers.ask("a", plus(1, 1))
    with pytest.raises(GdlError, match="too many others"):
        await workers.ask("c", plus(1, 1))
    await workers.close()
    for task in slow:
        with pytest.raises(GdlError):
            await task

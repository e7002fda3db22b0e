"""Work for strangers is admitted as long as all of it together fits, whoever asks at the same time."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.processes.budget import Reservation, WorkBudget, WorkNeed
from ggp.protocol.http_error import BusyError

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

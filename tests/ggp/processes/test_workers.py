"""Workers: few processes, one order each at a time; what is too much, too long or given up is told."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from gdl.errors import GdlError
from ggp.processes.budget import WorkBudget
from ggp.processes.parent import JsonMessage
from ggp.processes.workers import GivenUpError, Workers, WorkKind
from players.processes.lifeline import children

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

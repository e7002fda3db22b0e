"""Threads that share work: every task once, results in order, faults told, nothing runs on after a stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.processes.worker_threads import WorkerThreads
from tests.examples import examples


class Tool:
    """Says so when two threads use it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.uses = 0

    def square(self, number: int) -> int:
        assert self._lock.acquire(blocking=False), "two threads use one tool"
        try:
            time.sleep(0.0002 * (number % 3))
            self.uses += 1
            return number * number
        finally:
            self._lock.release()


@examples(25)
@given(st.integers(1, 5), st.lists(st.integers(0, 50), max_size=40))
def test_results_come_in_the_order_of_the_tasks_from_any_number_of_threads(
    count: int, numbers: list[int]
) -> None:
    workers = WorkerThreads([Tool() for _ in range(count)], "test")
    try:
        assert list(workers.results(Tool.square, numbers)) == [number * number for number in numbers]
        assert sum(tool.uses for tool in workers.tools) == len(numbers)
    finally:
        workers.close()


@pytest.mark.parametrize("count", [1, 3])
def test_few_tasks_begin_before_their_results_are_asked_for(count: int) -> None:
    begun: list[int] = []
    workers = WorkerThreads(range(count), "test")

    def tasks() -> Iterator[int]:
        for number in range(1000):
            begun.append(number)
            yield number

    results = workers.results(lambda tool, task: task, tasks())
    assert next(results) == 0
    assert len(begun) <= 3 * count + 1
    results.close()
    workers.close()


@pytest.mark.parametrize("count", [1, 3])
def test_a_task_that_raises_is_told_to_the_caller_and_the_threads_go_on(count: int) -> None:
    workers = WorkerThreads(range(count), "test")
    with pytest.raises(ZeroDivisionError):
        list(workers.results(lambda tool, task: 1 // task, [1, 2, 0, 4]))
    assert list(workers.results(lambda tool, task: 12 // task, [1, 2])) == [12, 6]

    def failing(tool: int) -> Iterator[None]:
        yield
        if tool == count - 1:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(workers.run(failing))
    workers.close()


@pytest.mark.parametrize("count", [1, 3])
def test_every_tool_has_its_job_and_a_stop_ends_all_jobs(count: int) -> None:
    steps = [0] * count
    workers = WorkerThreads(range(count), "test")

    def endless(tool: int) -> Iterator[None]:
        while True:
            time.sleep(0.001)
            steps[tool] += 1
            yield

    running = workers.run(endless)
    end = time.monotonic() + 20
    while not all(steps) and time.monotonic() < end:
        next(running)
    running.close()
    assert all(steps)
    before = list(steps)
    time.sleep(0.02)
    assert steps == before
    workers.close()


def test_results_that_nobody_asks_for_any_more_hold_nobody_up_when_the_threads_have_ended() -> None:
    workers = WorkerThreads([Tool(), Tool()], "test")
    begun = threading.Event()

    def slow(tool: Tool, task: int) -> int:
        begun.set()
        time.sleep(0.05)
        return task

    # As where an error's traceback still holds them when the threads are ended.
    results = workers.results(slow, range(20))
    assert next(results) == 0 and begun.is_set()
    workers.close()
    closing = threading.Thread(target=results.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()

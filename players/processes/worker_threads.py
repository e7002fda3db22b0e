"""Threads that share work, each with a tool of its own. Kernels release the interpreter's lock, so threads
suffice."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Generic, TypeVar

Tool = TypeVar("Tool")
Task = TypeVar("Task")
Result = TypeVar("Result")

_AHEAD = 3
"""Number of tasks per thread that may be in progress or done before their results are taken."""
_LOOK_SECONDS = 0.05


class WorkerThreads(Generic[Tool]):
    """One thread for each tool; with a single tool the caller's thread does the work.

    Args:
        tools: one for each thread; no two threads use the same one at once.
        name: the name of the threads.
    """

    def __init__(self, tools: Sequence[Tool], name: str) -> None:
        self.tools = tools
        self._free: queue.SimpleQueue[Tool] = queue.SimpleQueue()
        for tool in tools:
            self._free.put(tool)
        self._pool = ThreadPoolExecutor(len(tools), name) if len(tools) > 1 else None

    def results(self, work: Callable[[Tool, Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results of all tasks, in the order of the tasks. Few tasks begin before their results are asked
        for. When the caller stops (``close``), it waits for the tasks in progress."""
        if self._pool is None:
            for task in tasks:
                yield work(self.tools[0], task)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self._pool.submit(self._done, work, task))
                if len(waiting) > _AHEAD * len(self.tools):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            _settle(waiting)

    def run(self, work: Callable[[Tool], Iterator[None]]) -> Iterator[None]:
        """Do one job with each tool; yields now and then, so that the caller can check its clock. When the
        caller stops (``close``), each job ends at its next ``yield``, and the caller waits for it."""
        if self._pool is None:
            yield from work(self.tools[0])
            return
        stop = threading.Event()
        futures = {self._pool.submit(_work_off, work(tool), stop) for tool in self.tools}
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, _LOOK_SECONDS, FIRST_COMPLETED)
                for future in done:
                    future.result()
                yield
        finally:
            stop.set()
            _settle(futures)

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _done(self, work: Callable[[Tool, Task], Result], task: Task) -> Result:
        tool = self._free.get()
        try:
            return work(tool, task)
        finally:
            self._free.put(tool)


def _settle(futures: Iterable[Future[Any]]) -> None:
    """Cancel the futures that have not begun, and wait for the others. It does not wait for cancelled ones:
    after the end of the threads none would ever report a cancellation."""
    wait([future for future in futures if not future.cancel()])


def _work_off(job: Iterator[None], stop: threading.Event) -> None:
    for _ in job:
        if stop.is_set():
            return

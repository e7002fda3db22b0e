"""Threads that take tasks, each with a tool of its own, and hand results over in order."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Tool = TypeVar("Tool")
Task = TypeVar("Task")
Result = TypeVar("Result")

_AHEAD = 3


class Gang(Generic[Tool]):
    """As many workers as there are tools. Kernels let go of the interpreter's lock, so threads suffice."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tools
        self._free: queue.SimpleQueue[Tool] = queue.SimpleQueue()
        for tool in tools:
            self._free.put(tool)
        self._pool = ThreadPoolExecutor(len(tools), "strong") if len(tools) > 1 else None

    def run(self, work: Callable[[Tool, Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """The results of all tasks, in their order; few are worked on ahead of what is taken."""
        if self._pool is None:
            for task in tasks:
                yield work(self.tools[0], task)
            return
        ahead = _AHEAD * len(self.tools)
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self._pool.submit(self._done, work, task))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            for future in waiting:
                if not future.cancelled():
                    future.exception()

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _done(self, work: Callable[[Tool, Task], Result], task: Task) -> Result:
        tool = self._free.get()
        try:
            return work(tool, task)
        finally:
            self._free.put(tool)

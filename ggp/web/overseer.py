"""Keeps the budget of all work for strangers: measures what its processes take, and ends the greediest.

A reservation says what work of its kind usually needs, not what it may not exceed. So a few processes could
take far more than was reserved. When all together take more memory than there is, the one that is furthest
above its reservation ends; who waits for it is told on one line.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress

from aiohttp import web

from ggp.processes.budget import WorkBudget
from ggp.server.log_lines import say
from ggp.web.warmth import FORKS
from players.processes.descendants import descendants, parent, proportional_bytes

BUDGET = web.AppKey("budget", WorkBudget)
LOOK_SECONDS = 2.0


async def oversee(app: web.Application) -> AsyncIterator[None]:
    """Measure while the application runs."""
    looking = asyncio.create_task(_look(app))
    yield
    looking.cancel()


async def _look(app: web.Application) -> None:
    budget = app[BUDGET]
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        wanted = {holder.pid for holder in budget.holders if holder.pid}
        if wanted:
            owners = app[FORKS].owners if FORKS in app else {}
            end_greediest(budget, await asyncio.to_thread(memory_of, wanted, owners))


def end_greediest(budget: WorkBudget, taken: Mapping[int, int]) -> int:
    """End the process that is furthest above its reservation, where all together take more than the budget
    has; ``taken`` says how many bytes each takes. Gives its process id; 0 where there is room for all."""
    if sum(taken.values()) <= budget.memory:
        return 0
    above = {
        holder.pid: taken.get(holder.pid, 0) - holder.need.memory for holder in budget.holders if holder.pid
    }
    pid = max(above, key=above.__getitem__, default=0)
    if pid:
        say("warning", "process ends: too much memory is used", pid=pid, bytes=taken.get(pid, 0))
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return pid


def memory_of(pids: Iterable[int], owners: Mapping[int, int]) -> Counter[int]:
    """The memory in bytes that each of these processes takes with all that it has started; shared pages are
    shared out among those that have them. ``owners``: by process id, for whom a fork server has made it."""
    wanted, taken = set(pids), Counter[int]()
    for pid in descendants(os.getpid()):
        head, steps = pid, 0
        while head not in wanted and head > 1 and steps < 16:
            head, steps = owners.get(head) or parent(head), steps + 1
        if head in wanted:
            taken[head] += proportional_bytes(pid)
    return taken

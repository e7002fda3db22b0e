"""A budget of processes and memory for all work for strangers together, reserved before a process starts.

Each piece of work reserves the usual need of its kind and releases it when its processes have ended. The
owner of the budget (:mod:`ggp.web.app`) measures the real need of the processes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from ggp.protocol.http_error import BusyError

Idle = Callable[[], bool]
End = Callable[[], Awaitable[None]]
_GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class WorkNeed:
    """Attributes:
    processes: how many processes at once.
    memory: bytes, of all of them together.
    """

    processes: int = 1
    memory: int = 192 * 1024**2


class Reservation:
    """A part of a budget, until it is released.

    Attributes:
        need: the processes and memory reserved.
        pid: the process it is for; 0 while there is none. Processes that this one starts belong to it.
    """

    def __init__(self, budget: WorkBudget, need: WorkNeed, idle: Idle, end: End) -> None:
        self.need = need
        self.pid = 0
        self.idle, self.end = idle, end
        self._budget = budget

    def release(self) -> None:
        """Release the part; does nothing if it is already released."""
        self._budget.holders.pop(self, None)


class WorkBudget:
    """A budget. Use it within one event loop.

    Args:
        processes: the most processes at once.
        memory: bytes that they may use together.

    Attributes:
        holders: all reservations, the oldest first.
        own: bytes of ``memory`` that this process uses itself, as last measured.
    """

    def __init__(self, processes: int, memory: int) -> None:
        self.processes, self.memory, self.own = processes, memory, 0
        self.holders: dict[Reservation, None] = {}

    @property
    def reserved(self) -> WorkNeed:
        """The processes and memory that are reserved now."""
        needs = [holder.need for holder in self.holders]
        return WorkNeed(sum(need.processes for need in needs), sum(need.memory for need in needs))

    async def reserve(self, what: str, need: WorkNeed, idle: Idle, end: End) -> Reservation:
        """Reserve a part. If too little is left, idle holders are ended, the oldest first. If nothing is
        reserved, the request is always granted, also on a small computer.

        Args:
            what: the purpose, for messages.
            need: processes and memory to reserve.
            idle: whether the work can be ended without loss.
            end: ends its processes and releases the part.

        Raises:
            BusyError: too little is left, and no holder is idle.
        """
        while not self._has(need):
            leaving = next((holder for holder in self.holders if holder.idle()), None)
            if leaving is None:
                raise BusyError(f"all processes for visitors are busy, none is left for {what}")
            await leaving.end()
            # Others may have reserved meanwhile, so check again whether enough is left.
            leaving.release()
        reservation = Reservation(self, need, idle, end)
        self.holders[reservation] = None
        return reservation

    def _has(self, need: WorkNeed) -> bool:
        reserved = self.reserved
        return not self.holders or (
            reserved.processes + need.processes <= self.processes
            and self.own + reserved.memory + need.memory <= self.memory
        )


def usual_memory() -> int:
    """Half of the memory that this computer, or this container, has; bytes."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not available on Windows
        size = 8 * 1024**3
    with contextlib.suppress(OSError, ValueError):  # no group, or no limit
        size = min(size, int(_GROUP_LIMIT.read_text(encoding="utf-8")))
    return size // 2

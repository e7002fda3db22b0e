"""What all work for strangers together may take: processes and memory, reserved before a process is started.

Each piece of work reserves what its kind usually needs and gives it back when its processes have ended. What
the processes really take is measured by who keeps the budget (:mod:`ggp.web.overseer`).
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
        need: how much.
        pid: the process it is for; 0 while there is none. Those that this one starts belong to it.
    """

    def __init__(self, budget: WorkBudget, need: WorkNeed, idle: Idle, end: End) -> None:
        self.need = need
        self.pid = 0
        self.idle, self.end = idle, end
        self._budget = budget

    def release(self) -> None:
        """Give it back; nothing happens if it has been."""
        self._budget.holders.pop(self, None)


class WorkBudget:
    """To be used within one event loop.

    Args:
        processes: how many there may be.
        memory: bytes that they may take together.

    Attributes:
        holders: who has reserved something, the first to come first.
        own: bytes of ``memory`` that this process takes itself, as last measured.
    """

    def __init__(self, processes: int, memory: int) -> None:
        self.processes, self.memory, self.own = processes, memory, 0
        self.holders: dict[Reservation, None] = {}

    @property
    def reserved(self) -> WorkNeed:
        """What is reserved now."""
        needs = [holder.need for holder in self.holders]
        return WorkNeed(sum(need.processes for need in needs), sum(need.memory for need in needs))

    async def reserve(self, what: str, need: WorkNeed, idle: Idle, end: End) -> Reservation:
        """Reserve a part; where too little is left, those that are idle make room, the first to come first.
        What comes alone is always let in, also on a small computer.

        Args:
            what: it is for, in messages.
            need: how much.
            idle: whether nobody would miss it.
            end: ends its processes and releases it.

        Raises:
            BusyError: too little is left, and nobody is idle.
        """
        while not self._has(need):
            leaving = next((holder for holder in self.holders if holder.idle()), None)
            if leaving is None:
                raise BusyError(f"all processes for visitors are busy, none is left for {what}")
            await leaving.end()
            # Others may have asked meanwhile: whether there is room is looked at anew.
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
    except (AttributeError, OSError, ValueError):  # Windows does not tell
        size = 8 * 1024**3
    with contextlib.suppress(OSError, ValueError):  # no group, or no limit
        size = min(size, int(_GROUP_LIMIT.read_text(encoding="utf-8")))
    return size // 2

"""`TournamentProcess`: a process of a referee or a player, bound to its cores."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from typing import Self

from ggp.processes.child import Child
from ggp.processes.parent import JsonMessage

END_SECONDS = 1.5
"""Seconds that a process may take to free its resources when it has to end."""
_MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest message: the record of a long match."""
_OF_ONE_THREAD = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"


class TournamentProcess(Child):
    """A referee's or a player's process, seen from its parent. Its ``inbox`` receives each of its messages,
    and None when it has ended."""

    inbox: asyncio.Queue[JsonMessage | None]

    @classmethod
    async def start(cls, module: str) -> Self:
        """Start a process of a module. Raises OSError if no more processes can be started or files opened."""
        os.environ.update(dict.fromkeys(_OF_ONE_THREAD, "1"))
        process = await cls.spawn(module, max_line=_MAX_LINE)
        inbox = process.inbox = asyncio.Queue()
        process.on_message = inbox.put_nowait
        process.on_exit = lambda _: inbox.put_nowait(None)
        return process

    async def close(self) -> None:
        """Let it end by itself, or else kill it and its whole group; wait for its end."""
        self.hang_up()
        await self.end(2 * END_SECONDS)


def pin(cores: Iterable[int]) -> None:
    """Run on these cores only, if the system supports it; on any if ``cores`` is empty."""
    chosen = set(cores)
    if chosen and hasattr(os, "sched_setaffinity"):
        try:
            os.sched_setaffinity(0, chosen)
        except OSError:  # a core that went away, or that a container may not use
            return

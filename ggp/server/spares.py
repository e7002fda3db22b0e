"""Spare processes for the server's matches: started, with everything imported, before a match needs them."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ggp.processes.child import Child
from players.processes.priority import BEHIND, USUAL, set_session

log = logging.getLogger("ggp.server")

MAX_USES = 50
"""How many START messages a process may refuse before a fresh one replaces it."""


class Spare:
    """A process kept ready, so that START costs little. It runs ``module`` with the ``arguments``; ``server``
    names the fork servers to ask instead of the usual ones."""

    def __init__(
        self, module: str, *arguments: str, server: Callable[[], socket.socket | None] = lambda: None
    ) -> None:
        self._spawn: Callable[[], Awaitable[Child]] = lambda: Child.spawn(module, *arguments, server=server())
        self._spare: Child | None = None
        self._refilling: asyncio.Task[None] | None = None
        self._closed = False

    async def take(self) -> Child:
        """The spare process, or a new one where there is none. Raises OSError if there are no more processes
        or files to be had."""
        if self._refilling is not None:
            await asyncio.shield(self._refilling)
        self.check()
        child, self._spare = self._spare, None
        if child is None or not child.alive:
            child = await self._spawn()
        set_session(child.pid, USUAL)
        child.uses += 1
        return child

    def give_back(self, child: Child) -> bool:
        """Keep a process that is as good as new for the next match; False where it is not needed."""
        needed = self._spare is None and self._idle
        if not (needed and child.alive and child.uses < MAX_USES):
            return False
        child.on_message = child.on_exit = None
        self._spare = child
        return True

    def check(self) -> None:
        """Let the process go if somebody has stopped it."""
        if self._spare is not None and self._spare.stopped:
            self._drop()

    def refill(self) -> None:
        """Start a new spare process if there is none."""
        if (self._spare is None or not self._spare.alive) and self._idle and not self._closed:
            self._refilling = asyncio.create_task(self._fill())

    def renew(self) -> None:
        """Replace the process by a new one."""
        self._drop()
        self.refill()

    async def close(self) -> None:
        """End the spare process."""
        self._closed = True
        if self._refilling is not None:
            await self._refilling
        if self._spare is not None:
            self._spare.kill()
            await self._spare.ended()

    @property
    def _idle(self) -> bool:
        return self._refilling is None or self._refilling.done()

    def _drop(self) -> None:
        if self._spare is not None:
            self._spare.kill()
            self._spare = None

    async def _fill(self) -> None:
        try:
            self._spare = await self._spawn()
            # It prepares for a match to come beside those that are played.
            set_session(self._spare.pid, BEHIND)
        except OSError as error:
            log.error("event=no-spare error=%r", str(error))


class Spares(NamedTuple):
    """Where the processes of matches come from: those that think, and those that keep a legal move."""

    match: Spare
    keeper: Spare

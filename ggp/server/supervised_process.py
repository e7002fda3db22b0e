"""A process that follows a match, seen from the server: when it ends, is stopped or hangs, a new one replaces
it and gets the same messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from ggp.processes.child import Child
from ggp.processes.parent import JsonMessage
from ggp.protocol.http_error import BusyError
from ggp.server.fork_servers import Spare
from players.processes.limits import USUAL, set_session

_Briefing = Callable[["SupervisedProcess"], Iterable[tuple[str, JsonMessage]]]


class SupervisedProcess:
    """A process that is replaced when it fails.

    Args:
        name: its purpose, in the log.
        spare: the source of its processes.
        briefing: messages and their fields for a new process.
        receive: called with each of its messages.
        lost: called when it ends; returns whether to replace it now. Otherwise the next turn replaces it.
        log: takes a level, an event and named fields.

    Attributes:
        child: the process; None while there is none.
        deaths: the number of processes that have ended one after another without having been of any use.
        heard: the last turn that it has answered.
    """

    def __init__(
        self,
        name: str,
        spare: Spare,
        briefing: _Briefing,
        receive: Callable[[SupervisedProcess, JsonMessage], None],
        lost: Callable[[SupervisedProcess, int], bool],
        log: Callable[..., None],
    ) -> None:
        self.name = name
        self.child: Child | None = None
        self.deaths = 0
        self.heard = 0
        self._spare = spare
        self._briefing = briefing
        self._receive = receive
        self._lost = lost
        self._log = log
        self._closed = False
        self._ranked = 0, USUAL
        self._coming: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a process that can receive messages."""
        return self.child is not None and self.child.alive

    async def begin(self) -> None:
        """Take a process and send it the match. Raises OSError if no more processes can be started or files
        opened."""
        child = await self._spare.take()
        if self._closed:
            child.kill()
            return
        self.child = child
        child.on_message = lambda message: self._receive(self, message)
        child.on_exit = self._ended
        if not child.alive:
            self._ended(child)
            return
        for do, fields in self._briefing(self):
            self.send(do, **fields)

    def send(self, do: str, **fields: object) -> None:
        """Send the process a message. If there is no process, or it does not read, start a new one, whose
        briefing has the same content."""
        if self.child is None or not self.child.alive:
            self.replace()
            return
        try:
            self.child.send(do, **fields)
        except BusyError:
            self._log("error", "process does not read", what=self.name, pid=self.child.pid)
            self.give_up()

    def rank(self, nice: int) -> None:
        """Give the process this nice value among the sessions (:mod:`players.processes.limits`)."""
        if self.child is not None and (ranked := (self.child.pid, nice)) != self._ranked:
            self._ranked = ranked
            set_session(*ranked)

    def check(self) -> None:
        """Replace the process if it has been stopped. Call this regularly."""
        if self.child is not None and not self._closed and self.child.stopped:
            self._log("error", "process is stopped", what=self.name, pid=self.child.pid)
            self.give_up()

    def give_up(self) -> None:
        """Kill the process and go on without waiting for its end: on a busy computer that takes long."""
        child = self.child
        if child is not None:
            child.kill()
            child.on_message = child.on_exit = None
            self._ended(child)

    def replace(self) -> None:
        """Start a new process, unless one is already starting."""
        if not self._closed and (self._coming is None or self._coming.done()):
            self._coming = asyncio.create_task(self._replace())

    def settle(self) -> None:
        """Mark the match as over for the server: start no more processes, and ignore the end of this one."""
        self._closed = True
        if self._coming is not None:
            self._coming.cancel()

    async def close(self, reusable: bool = False) -> None:
        """End the process at once, or give it back if it is as good as new."""
        self.settle()
        child = self.child
        if child is not None and not (reusable and self._spare.give_back(child)):
            child.kill()
            await child.ended()

    async def finish(self, moves: tuple[str, ...] | None, seconds: float) -> None:
        """Give the process ``seconds`` to report the match's outcome, and end it."""
        self.settle()
        if (child := self.child) is not None:
            self.send("stop", moves=moves)
            await child.end(seconds)

    async def _replace(self) -> None:
        try:
            await self.begin()
        except OSError as error:
            self._log("error", "no process", what=self.name, error=str(error))

    def _ended(self, child: Child) -> None:
        if self._closed or child is not self.child:
            return
        self.child = None
        self.deaths += 1
        if self._lost(self, child.pid):
            # Do not call replace(): a process that ended before it received anything still counts as
            # starting.
            self._coming = asyncio.create_task(self._replace())

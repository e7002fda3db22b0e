"""One of the processes that follow a match, as the server sees it: replaced when it ends, is stopped or
hangs by one that is told the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from ggp.server.child_process import Spare, Worker

Fields = dict[str, Any]
Brief = Callable[["Member"], Iterable[tuple[str, Fields]]]


class Member:
    """See the module's first lines.

    Args:
        name: what it is for; for the log.
        spare: where its processes come from.
        brief: what a new process is told: messages and their fields.
        receive: is given what it says.
        lost: is told of its end, and says whether to replace it now; else the next turn asks for it.
        log: takes a level, an event and named fields.

    Attributes:
        worker: the process; None while there is none.
        deaths: processes that have ended one after another without having been of any use.
        heard: the last turn that it has answered.
    """

    def __init__(
        self,
        name: str,
        spare: Spare,
        brief: Brief,
        receive: Callable[[Member, Fields], None],
        lost: Callable[[Member, int], bool],
        log: Callable[..., None],
    ) -> None:
        self.name = name
        self.worker: Worker | None = None
        self.deaths = 0
        self.heard = 0
        self._spare = spare
        self._brief = brief
        self._receive = receive
        self._lost = lost
        self._log = log
        self._closed = False
        self._coming: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a process that can be talked to."""
        return self.worker is not None and self.worker.alive

    async def employ(self) -> None:
        """Take a process and tell it what the match is.

        Raises:
            OSError: there are no more processes or files to be had.
        """
        worker = await self._spare.take()
        if self._closed:
            worker.kill()
            return
        self.worker = worker
        worker.on_message = lambda message: self._receive(self, message)
        worker.on_exit = self._ended
        if not worker.alive:
            self._ended(worker)
            return
        for do, fields in self._brief(self):
            worker.send(do, **fields)

    def send(self, do: str, **fields: object) -> None:
        """Tell the process something, or else have a new one, which is told by its briefing."""
        if self.worker is not None and self.worker.alive:
            self.worker.send(do, **fields)
        else:
            self.replace()

    def check(self) -> None:
        """Replace the process if somebody has stopped it. To be called now and then."""
        if self.worker is not None and not self._closed and self.worker.stopped:
            self._log("error", "process is stopped", what=self.name, pid=self.worker.pid)
            self.give_up()

    def give_up(self) -> None:
        """Kill the process and go on without waiting for its end: on a busy computer that takes long."""
        worker = self.worker
        if worker is not None:
            worker.kill()
            worker.on_message = worker.on_exit = None
            self._ended(worker)

    def replace(self) -> None:
        """Have a new process, unless one is coming."""
        if not self._closed and (self._coming is None or self._coming.done()):
            self._coming = asyncio.create_task(self._replace())

    def settle(self) -> None:
        """The match is over for the server: no more processes, nothing more from this one."""
        self._closed = True
        if self._coming is not None:
            self._coming.cancel()

    async def close(self, reusable: bool = False) -> None:
        """End the process at once, or give it back if it is as good as new."""
        self.settle()
        worker = self.worker
        if worker is not None and not (reusable and self._spare.give_back(worker)):
            worker.kill()
            await worker.ended()

    async def finish(self, moves: tuple[str, ...] | None) -> None:
        """Let it say how the match ended, for a moment, and end it."""
        self.settle()
        if self.worker is not None:
            await self.worker.stop(moves)

    async def _replace(self) -> None:
        try:
            await self.employ()
        except OSError as error:
            self._log("error", "no process", what=self.name, error=str(error))

    def _ended(self, worker: Worker) -> None:
        if self._closed or worker is not self.worker:
            return
        self.worker = None
        self.deaths += 1
        if self._lost(self, worker.pid):
            # What is coming is this one, if it ended before it could be told anything.
            self._coming = asyncio.create_task(self._replace())

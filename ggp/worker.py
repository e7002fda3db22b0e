"""The server's end of a match process: start it, talk to it, see it end, have a spare one.

The processes are asyncio subprocesses and not :mod:`multiprocessing`'s, because their pipes
then belong to the event loop, what they send is JSON and not pickles (their rules come from
strangers), and the end of the pipe tells each side that the other one is gone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from ggp.processes import is_stopped

log = logging.getLogger("ggp.server")

MAX_LINE = 8 * 1024 * 1024
"""Longest message that a match process may send, in bytes."""

MAX_USES = 50
"""How many START messages a process may refuse before it is replaced by a fresh one."""

POLL_SECONDS = 0.1
"""How soon its end is seen where the pipe does not tell."""

DRAIN_SECONDS = 0.2
"""How long its last messages are read for after its end."""

EXIT_SECONDS = 1.0
"""How long it may take to end after it has closed the pipe."""

STOP_SECONDS = 2.0
"""How long a match process may take to end after ``stop``."""


class Worker:
    """One match process.

    Attributes:
        on_message: called with each message from the process.
        on_exit: called once when it has ended.
        alive: whether it can be talked to.
        uses: how often it has been taken for a match.
    """

    coming: ClassVar[int] = 0
    """How many processes are being started."""

    pids: ClassVar[set[int]] = set()
    """The process ids of all that have not ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.alive = True
        self.uses = 0
        self.on_message: Callable[[dict[str, Any]], None] | None = None
        self.on_exit: Callable[[Worker], None] | None = None
        self.pids.add(process.pid)
        self._pump = asyncio.create_task(self._attend())

    @classmethod
    async def spawn(cls, player: str, machine: str) -> Worker:
        """Start a process that will play with this kind of player and machine."""
        root = str(Path(__file__).resolve().parent.parent)
        known = os.environ.get("PYTHONPATH", "")
        path = os.pathsep.join([root, known] if known else [root])
        Worker.coming += 1
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "ggp.match_process",
                player,
                machine,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                limit=MAX_LINE,
                # A Ctrl-C at the terminal is the server's to handle.
                start_new_session=True,
            )
            return cls(process)
        finally:
            Worker.coming -= 1

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def stopped(self) -> bool:
        """Whether somebody has stopped it by a signal: it will do nothing until told to go on."""
        return self.alive and is_stopped(self.pid)

    def send(self, do: str, **fields: object) -> None:
        """Send a message; nothing happens where the process is gone."""
        pipe = self._process.stdin
        if self.alive and pipe is not None and not pipe.is_closing():
            pipe.write(json.dumps({"do": do, **fields}).encode() + b"\n")

    def kill(self) -> None:
        """End the process at once."""
        if self._process.returncode is None:
            try:
                self._process.kill()
            except ProcessLookupError:
                return

    async def ended(self) -> None:
        """Wait until the process has ended."""
        await asyncio.shield(self._pump)

    async def stop(self, moves: tuple[str, ...] | None) -> None:
        """Let it finish by itself, or else end it."""
        self.send("stop", moves=moves)
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self.ended()
        except TimeoutError:
            pass
        finally:
            self.kill()
        await self.ended()

    async def _attend(self) -> None:
        """Read what it sends, and see it end: by its exit and not by the end of the pipe alone, which
        processes that it has started may hold open."""
        reading = asyncio.create_task(self._read())
        while not reading.done() and self._process.returncode is None:
            await asyncio.wait([reading], timeout=POLL_SECONDS)
        await asyncio.wait([reading], timeout=DRAIN_SECONDS)
        reading.cancel()
        end = time.monotonic() + EXIT_SECONDS
        while self._process.returncode is None:
            if time.monotonic() > end:
                self.kill()
            await asyncio.sleep(POLL_SECONDS / 5)
        self.alive = False
        self.pids.discard(self.pid)
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self.on_exit is not None:
            self.on_exit(self)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                if self.on_message is not None:
                    self.on_message(json.loads(line))
        except ValueError as error:  # a line too long, or no JSON: the process has gone wild
            log.error("event=bad-worker pid=%d error=%r", self.pid, str(error)[:200])


class Spare:
    """A match process kept ready, with everything imported, so that START costs little."""

    def __init__(self, player: str, machine: str) -> None:
        self._player = player
        self._machine = machine
        self._spare: Worker | None = None
        self._refilling: asyncio.Task[None] | None = None

    async def take(self) -> Worker:
        """The spare process, or a new one where there is none."""
        if self._refilling is not None:
            await asyncio.shield(self._refilling)
        worker, self._spare = self._spare, None
        if worker is None or not worker.alive:
            worker = await Worker.spawn(self._player, self._machine)
        worker.uses += 1
        return worker

    def give_back(self, worker: Worker) -> bool:
        """Keep a process that is as good as new for the next match, if there is need."""
        needed = self._spare is None and (self._refilling is None or self._refilling.done())
        if not (needed and worker.alive and worker.uses < MAX_USES):
            return False
        worker.on_message = worker.on_exit = None
        self._spare = worker
        return True

    def refill(self) -> None:
        """Start a new spare process if there is none."""
        if (self._spare is None or not self._spare.alive) and (
            self._refilling is None or self._refilling.done()
        ):
            self._refilling = asyncio.create_task(self._fill())

    async def close(self) -> None:
        """End the spare process."""
        if self._refilling is not None:
            await self._refilling
        if self._spare is not None:
            self._spare.kill()
            await self._spare.ended()

    async def _fill(self) -> None:
        try:
            self._spare = await Worker.spawn(self._player, self._machine)
        except OSError as error:
            log.error("event=no-spare error=%r", str(error))

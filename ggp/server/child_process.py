"""The server's end of a process that follows a match: start it, talk to it, see it end, have a spare one.

What is sent is JSON over a socket, and not pickles, since the rules come from strangers; the end of the
connection tells each side that the other one is gone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from subprocess import Popen
from typing import Any, ClassVar

from players.processes import launch
from players.processes.launch import Forked, is_stopped
from players.processes.priority import go_as_usual

log = logging.getLogger("ggp.server")

MAX_LINE = 8 * 1024 * 1024
"""Longest message that such a process may send, in bytes."""

MAX_USES = 50
"""How many START messages a process may refuse before it is replaced by a fresh one."""

FORK_SECONDS = 0.5
"""How long a fork server is waited for."""

POLL_SECONDS = 0.1
"""How soon its end is seen where the connection does not tell."""

DRAIN_SECONDS = 0.2
"""How long its last messages are read for after its end."""

EXIT_SECONDS = 1.0
"""How long it may take to end after it has closed the connection."""

STOP_SECONDS = 2.0
"""How long it may take to end after ``stop``."""


async def fork(
    module: str, arguments: Sequence[str], files: dict[int, int], server: socket.socket | None = None
) -> Forked | None:
    """A process made by a fork server, without holding up the event loop; None where there is none, or it
    does not answer. As in :func:`players.processes.launch.ask`, in a session of its own."""
    asked = launch.ask(module, arguments, files, session=True, server=server)
    if asked is None:
        return None
    asked.setblocking(False)
    try:
        async with asyncio.timeout(FORK_SECONDS):
            told = await asyncio.get_running_loop().sock_recv(asked, 64)
        if told:
            return Forked(int(told), asked)
    except (OSError, TimeoutError):
        pass
    log.warning("event=no-fork module=%s", module)
    asked.close()
    return None


async def anew(module: str, arguments: Sequence[str], files: dict[int, int]) -> Popen[bytes]:
    """A new interpreter, likewise. On a busy computer it takes a while until its process begins.

    Raises:
        OSError: there are no more processes or files to be had.
    """

    def start() -> Popen[bytes]:
        go_as_usual()
        return launch.anew(module, arguments, files, session=True)

    return await asyncio.to_thread(start)


class Worker:
    """One process.

    Attributes:
        on_message: called with each message from the process.
        on_exit: called once when it has ended.
        alive: whether it can be talked to.
        uses: how often it has been taken for a match.
    """

    pids: ClassVar[set[int]] = set()
    """The process ids of all that have not ended."""

    def __init__(self, process: Forked | Popen[bytes], reader: StreamReader, writer: StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.alive = True
        self.uses = 0
        self.on_message: Callable[[dict[str, Any]], None] | None = None
        self.on_exit: Callable[[Worker], None] | None = None
        self.pids.add(process.pid)
        self._pump = asyncio.create_task(self._attend())

    @classmethod
    async def spawn(cls, module: str, *arguments: str, server: socket.socket | None = None) -> Worker:
        """Start a process that runs this module, by these fork servers or the usual ones if there are any.

        Raises:
            OSError: there are no more processes or files to be had.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            try:
                number = theirs.fileno()
                files = {0: number, 1: number}
                forked = await fork(module, arguments, files, server)
                process = forked or await anew(module, arguments, files)
                reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_LINE)
            except BaseException:
                ours.close()
                raise
        return cls(process, reader, writer)

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
        if self.alive and not self._writer.is_closing():
            self._writer.write(json.dumps({"do": do, **fields}).encode() + b"\n")

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

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
        """Read what it sends, and see it end: by its exit and not by the end of the connection alone,
        which processes that it has started may hold open."""
        reading = asyncio.create_task(self._read())
        while not reading.done() and self._process.poll() is None:
            await asyncio.wait([reading], timeout=POLL_SECONDS)
        await asyncio.wait([reading], timeout=DRAIN_SECONDS)
        reading.cancel()
        end = time.monotonic() + EXIT_SECONDS
        while self._process.poll() is None:
            if time.monotonic() > end:
                self.kill()
            await asyncio.sleep(POLL_SECONDS / 5)
        self.alive = False
        self.pids.discard(self.pid)
        self._writer.close()
        if self.on_exit is not None:
            self.on_exit(self)

    async def _read(self) -> None:
        try:
            while line := await self._reader.readline():
                if self.on_message is not None:
                    self.on_message(json.loads(line))
        except ConnectionError:  # it was killed
            return
        except ValueError as error:  # a line too long, or no JSON: the process has gone wild
            log.error("event=bad-worker pid=%d error=%r", self.pid, str(error)[:200])


class Spare:
    """A process kept ready, with everything imported, so that START costs little.

    Args:
        module: what it runs.
        arguments: its arguments.
        server: says by which fork servers it is made, if not by the usual ones.
    """

    def __init__(
        self, module: str, *arguments: str, server: Callable[[], socket.socket | None] = lambda: None
    ) -> None:
        self._module = module
        self._arguments = arguments
        self._server = server
        self._spare: Worker | None = None
        self._refilling: asyncio.Task[None] | None = None
        self._closed = False

    async def take(self) -> Worker:
        """The spare process, or a new one where there is none.

        Raises:
            OSError: there are no more processes or files to be had.
        """
        if self._refilling is not None:
            await asyncio.shield(self._refilling)
        self.check()
        worker, self._spare = self._spare, None
        if worker is None or not worker.alive:
            worker = await self._spawn()
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

    def check(self) -> None:
        """Let it go if somebody has stopped it."""
        if self._spare is not None and self._spare.stopped:
            self._spare.kill()
            self._spare = None

    def refill(self) -> None:
        """Start a new spare process if there is none."""
        idle = self._refilling is None or self._refilling.done()
        if (self._spare is None or not self._spare.alive) and idle and not self._closed:
            self._refilling = asyncio.create_task(self._fill())

    def renew(self) -> None:
        """Start a new one in the place of the one there is."""
        if self._spare is not None:
            self._spare.kill()
            self._spare = None
        self.refill()

    async def close(self) -> None:
        """End the spare process."""
        self._closed = True
        if self._refilling is not None:
            await self._refilling
        if self._spare is not None:
            self._spare.kill()
            await self._spare.ended()

    async def _spawn(self) -> Worker:
        return await Worker.spawn(self._module, *self._arguments, server=self._server())

    async def _fill(self) -> None:
        try:
            self._spare = await self._spawn()
        except OSError as error:
            log.error("event=no-spare error=%r", str(error))


@dataclass(frozen=True, slots=True)
class Spares:
    """Where the processes of matches come from: those that think, and those that keep a legal move."""

    match: Spare
    keeper: Spare

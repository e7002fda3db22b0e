"""The server's fork servers (:mod:`players.processes.fork_server`): started, watched, replaced, ended; and
spare processes for its matches, with everything imported before a match needs them.

A fork server may be killed or stopped at any time: a new one is started, which takes seconds. Meanwhile new
processes start without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from ggp.processes.child import Child
from players.processes import launch
from players.processes.fork_server import THIS
from players.processes.lifeline import is_stopped
from players.processes.limits import BEHIND, USUAL, go_as_usual, set_session

_LOAD_SECONDS = 300.0
"""Seconds that it may take to compile everything, on a computer on which nothing was compiled yet."""


def _anew(arguments: Sequence[str], files: dict[int, int]) -> subprocess.Popen[bytes]:
    go_as_usual()
    return launch.anew(THIS, arguments, files, session=True)


class KeptForkServer:
    """A fork server that is replaced when it is lost.

    Args:
        name: its purpose, in the log.
        warm_up: ``module:function`` and its arguments.
        log: takes a level, an event and named fields.
        on_ready: called when processes can be forked, now or again; ``on_lost`` when none can be forked.

    Attributes:
        owners: the process that has asked for each forked process, both by process id.
        ready: whether processes can be forked.
    """

    def __init__(
        self,
        name: str,
        warm_up: tuple[str, ...],
        log: Callable[..., None],
        on_ready: Callable[[], None],
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._warm_up = warm_up
        self._on_lost = on_lost
        self._log = log
        self._on_ready = on_ready
        self._process: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self.ready = False
        self.owners: dict[int, int] = {}
        self._starting: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._sockets: tuple[socket.socket, socket.socket] | None = None
        self._lifeline = -1

    @property
    def connection(self) -> socket.socket | None:
        """The socket for requests; None while there is no fork server."""
        return self._sockets[1] if self._sockets is not None and self.ready else None

    def open(self) -> None:
        """Start it."""
        self._sockets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._renew()

    async def close(self) -> None:
        """End it."""
        self._on_lost()
        if self._starting is not None:
            await self._starting
        if self._reading is not None:
            self._reading.cancel()
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        self._process, self.ready = None, False
        for end in self._sockets or ():
            end.close()
        self._cut_lifeline()

    def check(self) -> None:
        """Replace it if it has ended, is stopped, or takes too long to load. Call this regularly."""
        if self._sockets is None:
            return
        process = self._process
        if process is not None:
            late = not self.ready and time.monotonic() - self._began > _LOAD_SECONDS
            if process.poll() is None and (late or is_stopped(process.pid)):
                self._log("error", "fork server is stopped", what=self._name, pid=process.pid)
                process.kill()
            if process.poll() is not None:
                self._log("error", "fork server ended", what=self._name, pid=process.pid)
                self._process, self.ready = None, False
        self._reap()
        if self._process is None:
            self._on_lost()
            self._renew()

    def _cut_lifeline(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _reap(self) -> None:
        """Forget processes that a fork server which has ended has left to this process: it may be the first
        of a container."""
        for pid in list(self.owners):
            with contextlib.suppress(ChildProcessError):  # a child of a fork server
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del self.owners[pid]

    def _renew(self) -> None:
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start())

    async def _start(self) -> None:
        """Start the process; it reports when it is ready."""
        assert self._sockets is not None
        self._cut_lifeline()
        if self._reading is not None:
            self._reading.cancel()
        theirs_in, self._lifeline = os.pipe()
        ours, theirs_out = socket.socketpair()
        ours.setblocking(False)
        requests, client = (end.fileno() for end in self._sockets)
        try:
            self._began = time.monotonic()
            files = {0: theirs_in, 1: theirs_out.fileno(), requests: requests, client: client}
            arguments = str(requests), str(client), *self._warm_up
            self._process = await asyncio.to_thread(_anew, arguments, files)
            # It compiles for half a minute if it shares a processor with matches.
            set_session(self._process.pid, BEHIND)
        except OSError as error:
            self._log("error", "no fork server", what=self._name, error=str(error))
        finally:
            os.close(theirs_in)
            theirs_out.close()
        self._reading = asyncio.create_task(self._read(ours))

    async def _read(self, ours: socket.socket) -> None:
        reader, writer = await asyncio.open_connection(sock=ours)
        try:
            while line := await reader.readline():
                self._receive(json.loads(line))
        finally:
            writer.close()

    def _receive(self, message: dict[str, float]) -> None:
        if "ready" in message and self._process is not None:
            set_session(self._process.pid, USUAL)
            self.ready = True
            self._log("debug", "fork server", what=self._name, seconds=message["ready"])
            self._on_ready()
        elif "pid" in message:
            self.owners[int(message["pid"])] = int(message["owner"])
        elif "gone" in message:
            self.owners.pop(int(message["gone"]), None)


log = logging.getLogger("ggp.server")

_MAX_USES = 50
"""The number of START messages that a process may refuse before a fresh one replaces it."""


class Spare:
    """A process kept ready, so that START costs little. It runs ``module`` with the ``arguments``; ``server``
    names the fork server to ask instead of the usual one."""

    def __init__(
        self, module: str, *arguments: str, server: Callable[[], socket.socket | None] = lambda: None
    ) -> None:
        self._spawn: Callable[[], Awaitable[Child]] = lambda: Child.spawn(module, *arguments, server=server())
        self._spare: Child | None = None
        self._refilling: asyncio.Task[None] | None = None
        self._closed = False

    async def take(self) -> Child:
        """The spare process, or a new one if there is none. Raises OSError if no more processes can be
        started or files opened."""
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
        """Keep a process that is as good as new for the next match; False if it is not needed."""
        needed = self._spare is None and self._idle
        if not (needed and child.alive and child.uses < _MAX_USES):
            return False
        child.on_message = child.on_exit = None
        self._spare = child
        return True

    def check(self) -> None:
        """Drop the process if it has been stopped."""
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
            # It prepares for a future match while others are played.
            set_session(self._spare.pid, BEHIND)
        except OSError as error:
            log.error("event=no-spare error=%r", str(error))


class Spares(NamedTuple):
    """The sources of the processes of matches: those that think, and those that keep a legal move."""

    match: Spare
    standby: Spare

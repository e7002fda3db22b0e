"""A process that exchanges lines of JSON, seen from the event loop that starts it.

The lines are JSON and not pickles because the processes work on the rules and players of strangers. They
travel over one socket. When it closes, each side knows that the other is gone. The process's own end is
:class:`ggp.processes.parent.Parent`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from subprocess import Popen
from typing import Self

from ggp.processes.parent import JsonMessage
from ggp.protocol.http_error import BusyError
from players.processes import launch
from players.processes.launch import Forked
from players.processes.lifeline import is_stopped
from players.processes.limits import go_as_usual

log = logging.getLogger("ggp.server")

_POLL_SECONDS = 0.1
"""Seconds between two checks whether a process has ended whose connection others hold open."""
_DRAIN_SECONDS = 0.2
"""Seconds for reading the last messages of a process that has ended."""
EXIT_SECONDS = 1.0
"""Seconds that a process may live on after it has closed the connection."""
MOST_UNREAD = 16 * 1024 * 1024
"""Bytes that may wait until a process reads them; a single message may be longer."""


MAX_LINE = 8 * 1024 * 1024
"""Bytes of the longest message, unless a kind of process has longer ones."""


class Child:
    """One process.

    Attributes:
        on_message: called with each message from the process; while None, messages are dropped.
        on_exit: called once when the process has ended.
        alive: whether messages can be sent to it.
        uses: the number of times it was given out, for owners of spare processes.
    """

    def __init__(self, process: Forked | Popen[bytes], reader: StreamReader, writer: StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.alive = True
        self.uses = 0
        self.on_message: Callable[[JsonMessage], object] | None = None
        self.on_exit: Callable[[Child], None] | None = None
        self._attending = asyncio.create_task(self._attend())

    @classmethod
    async def spawn(
        cls, module: str, *arguments: str, max_line: int = MAX_LINE, server: socket.socket | None = None
    ) -> Self:
        """Start a process that calls ``main`` of a module, in a session of its own, so that a Ctrl-C at the
        terminal reaches only this process.

        Args:
            module: has a function ``main`` that first creates a :class:`ggp.processes.parent.Parent`.
            max_line: bytes of its longest message; it is killed if it sends a longer one.
            server: the fork server to ask instead of the usual one.

        Raises:
            OSError: no more processes can be started or files opened.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)

        def started() -> Forked | Popen[bytes]:
            go_as_usual()
            with theirs:
                files = dict.fromkeys((0, 1), theirs.fileno())
                return launch.launch(module, arguments, files, session=True, server=server)

        try:
            process = await asyncio.to_thread(started)  # a new interpreter takes long on a busy computer
            reader, writer = await asyncio.open_connection(sock=ours, limit=max_line)
        except BaseException:
            ours.close()  # a process that starts all the same ends at once
            raise
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """The exit status of the process, or the signal that ended it."""
        status = self._process.returncode
        if status is None:
            return "not yet"
        if status >= 0:
            return f"exit status {status}"
        try:
            return f"killed by {signal.Signals(-status).name}"
        except ValueError:
            return f"killed by signal {-status}"

    @property
    def stopped(self) -> bool:
        """Whether a signal has stopped the process, so that it does nothing until it is continued."""
        return self.alive and is_stopped(self.pid)

    def send(self, do: str, /, **fields: object) -> None:
        """Send a message, whose fields may have any names. Does nothing if the process is gone. Raises
        BusyError if the process does not read and more than :data:`MOST_UNREAD` would wait for it."""
        if not self.alive or self._writer.is_closing():
            return
        line = json.dumps({**fields, "do": do}).encode() + b"\n"
        waiting = self._writer.transport.get_write_buffer_size()
        if waiting and waiting + len(line) > MOST_UNREAD:
            raise BusyError("the process that this is for does not read its messages")
        self._writer.write(line)

    def hang_up(self) -> None:
        """Close the connection on this side: the process reads end of file, and may still send."""
        if not self._writer.is_closing():
            self._writer.write_eof()

    def kill(self) -> None:
        """End the process at once, and all processes of its group."""
        self._process.kill()
        if self.alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    async def ended(self) -> None:
        """Wait until the process has ended."""
        await asyncio.shield(self._attending)

    async def end(self, seconds: float) -> None:
        """Let the process end by itself within ``seconds``, then kill it; wait for its end."""
        try:
            await asyncio.wait([self._attending], timeout=seconds)
        finally:
            self.kill()
        await self.ended()

    async def _attend(self) -> None:
        # Wait for the end of the process, not of the connection, which its own children may hold open.
        reading = asyncio.create_task(self._read())
        while not reading.done() and self._process.poll() is None:
            await asyncio.wait([reading], timeout=_POLL_SECONDS)
        await asyncio.wait([reading], timeout=_DRAIN_SECONDS)
        reading.cancel()
        end = time.monotonic() + EXIT_SECONDS
        while self._process.poll() is None:
            if time.monotonic() > end:
                self.kill()
            await asyncio.sleep(_POLL_SECONDS / 5)
        self.kill()  # the rest of its group
        self.alive = False
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
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            # The line is too long, not JSON, or not a known message: the process cannot be trusted.
            log.error("event=bad-worker pid=%d error=%r", self.pid, str(error)[:200])
            self.kill()

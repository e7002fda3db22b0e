"""Processes that are talked to by lines of JSON: both ends.

When the end of a pipe is closed the process at the other end ends itself and all processes it has
started: nothing is left behind by a tournament that is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ggp

Message = dict[str, Any]

MAX_LINE = 64 * 1024 * 1024
"""Longest message, in bytes: the record of a long match."""

END_SECONDS = 1.5
"""How long a process may take to end by itself."""

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Child:
    """A process started here.

    Attributes:
        inbox: what it says, message by message; None when it has ended.
        alive: whether it can be talked to.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.alive = True
        self.inbox: asyncio.Queue[Message | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())
        self._waiting = asyncio.create_task(self._wait())

    @classmethod
    async def spawn(cls, module: str) -> Child:
        """Start ``python -m module`` in a session of its own."""
        root = str(Path(ggp.__path__[0]).resolve().parent)
        known = os.environ.get("PYTHONPATH", "")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                **os.environ,
                **_ONE_THREAD,
                "PYTHONPATH": os.pathsep.join([root, known] if known else [root]),
            },
            limit=MAX_LINE,
            # A Ctrl-C at the terminal is for the tournament; and the whole group can be killed.
            start_new_session=True,
        )
        return cls(process)

    def send(self, do: str, **fields: object) -> None:
        """Send a message; nothing happens where the process is gone."""
        pipe = self._process.stdin
        if self.alive and pipe is not None and not pipe.is_closing():
            pipe.write(json.dumps({"do": do, **fields}).encode() + b"\n")

    def kill(self) -> None:
        """End the process, and those that it has started, at once."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return

    async def close(self) -> None:
        """Let it end by itself, or else kill it; wait for its end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await asyncio.wait([self._waiting], timeout=2 * END_SECONDS)
        self.kill()
        await self._waiting

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                self.inbox.put_nowait(json.loads(line))
        except ValueError:  # a line too long, or no JSON: the process has gone wild
            self.kill()

    async def _wait(self) -> None:
        # The end of the process counts, not that of its pipe, which its children may hold open.
        await self._process.wait()
        self.alive = False
        await asyncio.wait([self._reading], timeout=0.5)
        self._reading.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self.inbox.put_nowait(None)


class Parent:
    """This process's end, in a process started by :meth:`Child.spawn`: make it first of all.

    Args:
        receive: called in a thread with each message, and with ``{"do": "end"}`` when the other end
            is closed or gone: what this process holds is to be freed within :data:`END_SECONDS`.
    """

    def __init__(self, receive: Callable[[Message], None]) -> None:
        # What libraries print must not mix with the messages.
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, args=(receive,), daemon=True, name="listener").start()

    def send(self, kind: str, **fields: object) -> None:
        """Send a message."""
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    @staticmethod
    def _listen(receive: Callable[[Message], None]) -> None:
        for line in sys.stdin.buffer:
            receive(json.loads(line))
        receive({"do": "end"})
        time.sleep(END_SECONDS)
        leave()


def leave() -> None:
    """End this process and all that it has started, at once."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def pin(cores: Iterable[int]) -> None:
    """Run on these cores only, where the system can be told so; on any if there are none."""
    chosen = set(cores)
    if chosen and hasattr(os, "sched_setaffinity"):
        try:
            os.sched_setaffinity(0, chosen)
        except OSError:  # a core that went away, or that a container may not use
            return


def usable_cores() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))

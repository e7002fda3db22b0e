"""A process that builds one stage of the kaskade: both its ends.

`Builder` is the end in the process that plays, :func:`main` runs in the other one. Grounding or compiling
hostile rules may use up all time and memory allowed. In a process of its own it takes neither the interpreter
lock nor the memory of the process that must answer in time, and it can die alone.

Input and output come in files without a name (:mod:`players.processes.lines`), so that nothing is left over
whichever process is killed. A builder has its own session, and ends when its connection ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gdl.errors import GdlError
from players.processes import launch
from players.processes.lifeline import is_stopped
from players.processes.limits import describe, limit_cpu, limit_files, limit_memory
from players.processes.lines import JsonMessage, Lines, nameless

_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT)

_LOOK_SECONDS = 1.0
"""Seconds between two checks of whether a silent builder is alive."""


class BuildError(GdlError):
    """A builder did not deliver; the message gives the reason."""


class KilledError(BuildError):
    """A builder was killed or stopped from outside; another one may succeed."""


@dataclass(frozen=True, slots=True)
class BuildJob:
    """The work of a builder, and its limits.

    Attributes:
        function: ``module:function``, called with the rules' text and the product of the previous stage. It
            yields its product as bytes, a larger one whenever more is ready.
        warm_up: ``module:function``, called before the rules arrive; may be empty.
        seconds: wall time from the rules to the end.
        cpu_seconds: CPU time of all its threads.
        memory: bytes of data.
    """

    function: str
    warm_up: str = ""
    seconds: float = 300.0
    cpu_seconds: float = 120.0
    memory: int = 4 * 1024**3


class Builder:
    """One building process. It starts, imports and warms up before it gets rules. The constructor raises
    OSError if there are no more processes, files or memory."""

    def __init__(self, job: BuildJob) -> None:
        self.job = job
        self._errors = os.fdopen(nameless(), "r+b")
        arguments = job.function, job.warm_up, str(job.memory), str(job.cpu_seconds)
        try:
            ours, self._process = launch.launch_linked(
                "players.kaskade.builder", [], arguments, session=True, errors=self._errors.fileno()
            )
        except BaseException:
            self._errors.close()
            raise
        self._lines = Lines(ours)
        self._killed = False
        self._reaped = False
        self._reaping = threading.Lock()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def build(self, text: str, previous: bytes) -> Iterator[bytes]:
        """Build from the rules and the product of the previous stage. Yields the products, each complete. The
        process is gone at the end. Raises BuildError if it fails, is killed, takes too long or sends
        something invalid."""
        deadline, left = time.monotonic() + self.job.seconds, self.job.memory
        try:
            rules = text.encode()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # its end shows why
                self._lines.send_bytes("build", rules + previous, rules=len(rules))
            for message in self._messages(deadline):
                match message["do"]:
                    case "error":
                        raise BuildError(str(message["error"])[:500])
                    case "done":
                        return
                product = self._lines.file_bytes(left)
                left -= len(product)
                yield product
            raise self._end()
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise BuildError(f"the builder sends what it should not: {error}") from None
        finally:
            self.kill()
            self._reap()

    def kill(self) -> None:
        """End the process, and all processes that it has started. Any thread may call this."""
        with self._reaping:
            self._killed = True
            if not self._reaped:
                with contextlib.suppress(OSError):  # a process that was just forked leads no group yet
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.kill()

    def close(self) -> None:
        """End a process that was never asked to build."""
        self.kill()
        self._reap()

    def _messages(self, deadline: float) -> Iterator[JsonMessage]:
        while (left := deadline - time.monotonic()) > 0:
            # Polled before reading, so that all output before its end is read.
            ended = self._process.poll() is not None
            self._lines.connection.settimeout(0.0 if ended else min(left, _LOOK_SECONDS))
            try:
                message = self._lines.receive()
            except ConnectionResetError:
                return
            except (TimeoutError, BlockingIOError):
                if ended:
                    return
                if is_stopped(self.pid):
                    raise KilledError("it was stopped by a signal") from None
                continue
            if message is None:
                return
            yield message
        raise BuildError(f"it took more than {self.job.seconds:g} s")

    def _end(self) -> BuildError:
        """The reason why a process ended without a message."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LOOK_SECONDS)
        status = self._process.returncode
        if self._killed:
            return BuildError("it was stopped")
        if status is None:
            return BuildError("it has closed its output")
        try:
            how = f"it was killed by {signal.Signals(-status).name}" if status < 0 else ""
        except ValueError:
            how = ""
        if status == -signal.SIGXCPU:
            how = f"it took more than {self.job.cpu_seconds:g} s of CPU time"
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 2000))
        errors = self._errors.read().decode(errors="replace").strip().splitlines()
        last_words = f", and said {errors[-1][:200]!r}" if errors else ""
        kind = KilledError if status in _FROM_OUTSIDE else BuildError
        return kind((how or f"it ended with status {status}") + last_words)

    def _reap(self) -> None:
        with self._reaping:
            if self._reaped:
                return
            self._reaped = True
        self._lines.close()
        self._process.wait()
        self._errors.close()


def main() -> None:
    """Build one stage, and end."""
    number, function, warm_up, memory, cpu_seconds = sys.argv[1:]
    lines = Lines(socket.socket(fileno=int(number)))
    limit_memory(int(memory))
    limit_files(int(memory))
    _die_first()
    with contextlib.suppress(Exception):  # a failure here occurs again below, and is reported then
        _resolve(function)
        # If rules are waiting already, they serve as the warm-up.
        if warm_up and not launch.warm and not select.select([lines.connection], [], [], 0)[0]:
            _resolve(warm_up)()
    if (message := lines.receive()) is None:
        return  # no match needs it
    data = lines.file_bytes()
    threading.Thread(target=_end_with_the_input, args=(lines,), daemon=True).start()
    limit_cpu(float(cpu_seconds))
    try:
        build: Callable[[str, bytes], Iterator[bytes]] = _resolve(function)
        for product in build(data[: message["rules"]].decode(), data[message["rules"] :]):
            lines.send_bytes("product", product)
        lines.send("done")
    except GdlError as error:
        lines.send("error", error=str(error))
    except (MemoryError, RecursionError):
        lines.send("error", error="it takes more memory than it may")
    except Exception as error:
        lines.send("error", error=describe(error))
    os._exit(0)


def _resolve(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _die_first() -> None:
    """If the computer runs out of memory, let the system kill this process first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
        file.write("1000")


def _end_with_the_input(lines: Lines) -> None:
    lines.receive()
    os._exit(0)

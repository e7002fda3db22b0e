"""A process that builds one stage of the kaskade: both its ends.

`Builder` is the end in the process that plays. The building process itself is ``python -m
players.kaskade.builder``. Grounding or compiling hostile rules may use up all time and memory allowed. In a
process of its own it takes neither the interpreter lock nor the memory of the process that must answer in
time, and it can die alone.

Input and output lie in files without a name (shared memory if the system has it), so that nothing is left
over whichever process is killed. The pipes only carry short messages. A builder has its own session, and ends
when its input ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any

from gdl.errors import GdlError
from players.processes import launch
from players.processes.lifeline import is_stopped
from players.processes.limits import describe, limit_cpu, limit_files, limit_memory
from players.processes.lines import bytes_of, nameless

MAX_LINE = 65536
"""Longest message of a builder, in bytes."""
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
        self._source, self._product, self._errors = _nameless(), _nameless(), _nameless()
        files = (self._source.fileno(), self._product.fileno())
        arguments = (job.function, job.warm_up, *map(str, files), str(job.memory), str(job.cpu_seconds))
        try:
            self._process, self._input, self._output = _start(arguments, self._errors.fileno(), files)
        except BaseException:
            self._close_files()
            raise
        self._killed = False
        self._reaped = False
        self._reaping = threading.Lock()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def build(self, text: str, previous: bytes) -> Iterator[bytes]:
        """Build from the rules and the product of the previous stage. Yields the products, each complete and
        checked. The process is gone at the end. Raises BuildError if it fails, is killed, takes too long or
        sends something invalid."""
        deadline = time.monotonic() + self.job.seconds
        try:
            rules = text.encode()
            self._source.write(rules + previous)
            self._source.flush()
            self._say({"rules": len(rules), "previous": len(previous), "sha256": _digest(rules + previous)})
            for message in self._messages(deadline):
                if "error" in message:
                    raise BuildError(str(message["error"])[:500])
                if "done" in message:
                    return
                yield self._read(int(message["at"]), int(message["size"]), str(message["sha256"]))
            raise self._end()
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
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

    def _say(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # it is gone: the end of its output shows why
            self._input.write(json.dumps(message).encode() + b"\n")
            self._input.flush()

    def _messages(self, deadline: float) -> Iterator[dict[str, Any]]:
        pipe = self._output.fileno()
        waiting = bytearray()
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise BuildError(f"it took more than {self.job.seconds:g} s")
            # Polled before reading, so that all output before its end is read.
            ended = self._process.poll() is not None
            if not select.select([pipe], [], [], 0.0 if ended else min(left, _LOOK_SECONDS))[0]:
                if ended:
                    return  # a process that the builder has started keeps the pipe open
                if is_stopped(self.pid):
                    raise KilledError("it was stopped by a signal")
                continue
            chunk = os.read(pipe, MAX_LINE)
            if not chunk:
                return
            waiting += chunk
            while (end := waiting.find(b"\n")) >= 0:
                line = bytes(waiting[:end])
                del waiting[: end + 1]
                yield json.loads(line)
            if len(waiting) > MAX_LINE:
                raise BuildError("it sends a message without an end")

    def _read(self, at: int, size: int, sha256: str) -> bytes:
        file = self._product.fileno()
        length = os.fstat(file).st_size
        if not 0 <= at <= at + size <= length:
            raise BuildError(f"it has delivered {length:,} bytes of {at + size:,}")
        chunks: list[bytes] = []
        while size:
            chunks.append(os.pread(file, size, at))
            if not chunks[-1]:
                raise BuildError("what it has delivered is cut off")
            at += len(chunks[-1])
            size -= len(chunks[-1])
        product = b"".join(chunks)
        if _digest(product) != sha256:
            raise BuildError("what it has delivered is not what it announced")
        return product

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
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()
        self._close_files()

    def _close_files(self) -> None:
        for file in (self._source, self._product, self._errors):
            file.close()


def _start(
    arguments: Sequence[str], errors: int, files: Sequence[int]
) -> tuple[launch.Forked | subprocess.Popen[bytes], IO[bytes], IO[bytes]]:
    """The process, its input and its output."""
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    try:
        inherited = {0: theirs_in, 1: theirs_out, 2: errors, **{file: file for file in files}}
        process = launch.launch("players.kaskade.builder", arguments, inherited, session=True)
        return process, os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
    except BaseException:
        os.close(ours_in)
        os.close(ours_out)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)


def _nameless() -> IO[bytes]:
    """A file without a name for writing and reading."""
    return os.fdopen(nameless(), "w+b")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main() -> None:
    """Build one stage, and end."""
    function, warm_up, source, product, memory, cpu_seconds = sys.argv[1:]
    # Output of libraries must not mix with the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit_memory(int(memory))
    limit_files(int(memory))
    _die_first()
    with contextlib.suppress(Exception):  # a failure here occurs again below, and is reported then
        _resolve(function)
        # If rules are waiting already, they serve as the warm-up.
        if warm_up and not launch.warm and not select.select([sys.stdin], [], [], 0)[0]:
            _resolve(warm_up)()
    line = sys.stdin.buffer.readline()
    if not line:
        return  # no match needs it
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    limit_cpu(float(cpu_seconds))

    def say(**message: Any) -> None:
        out.write(json.dumps(message).encode() + b"\n")
        out.flush()

    try:
        text, previous = _read_source(json.loads(line), int(source))
        build: Callable[[str, bytes], Iterator[bytes]] = _resolve(function)
        with open(int(product), "wb", buffering=0) as file:
            at = 0
            for data in build(text, previous):
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
                say(at=at, size=len(data), sha256=hashlib.sha256(data).hexdigest())
                at += len(data)
        say(done=True)
    except GdlError as error:
        say(error=str(error))
    except (MemoryError, RecursionError):
        say(error="it takes more memory than it may")
    except Exception as error:
        say(error=describe(error))
    os._exit(0)


def _resolve(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def _read_source(announced: dict[str, Any], source: int) -> tuple[str, bytes]:
    """The rules' text, and the product of the previous stage."""
    data = bytes_of(source)
    rules = announced["rules"]
    if len(data) != rules + announced["previous"] or hashlib.sha256(data).hexdigest() != announced["sha256"]:
        raise ValueError("the builder was not given what was announced")
    return data[:rules].decode(), data[rules:]


def _die_first() -> None:
    """If the computer runs out of memory, let the system kill this process first."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
        file.write("1000")


def _end_with_the_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()

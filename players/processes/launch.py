"""Starts processes of this program: by a fork server if there is one, otherwise by a new interpreter.

A fork of a process that has everything imported and compiled (:mod:`players.processes.fork_server`) is ready
at once (see docs/measurements.md). If no fork server answers, a new interpreter is started.

The environment variable :data:`SOCKET` holds the descriptor of the socket to the fork server; every process
that it makes inherits it under the same number. The socket keeps packets apart (``SOCK_SEQPACKET``).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import players
from players.processes import lifeline
from players.processes.limits import BEHIND, USUAL, set_session, set_threads

SOCKET = "GGP_FORK_SERVER"

_ANSWER_SECONDS = 0.5
"""Seconds to wait for a fork server, which only has to fork."""
_STATUS_SECONDS = 1.0
"""Seconds after the end of a process in which its status may arrive."""
MOST_FILES = 16
MAX_REQUEST = 65536
FORKS = sys.platform == "linux"
"""Whether there can be fork servers: they need Linux."""
warm = False
"""Whether this process was forked from one that had everything compiled or loaded."""


class Forked:
    """A process that a fork server created, with the methods of :class:`subprocess.Popen` that are needed;
    any thread may call them. Its ``returncode`` is set once :meth:`poll` or :meth:`wait` has seen its end; it
    is ``-SIGKILL`` if unknown."""

    def __init__(self, pid: int, connection: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._connection = connection
        self._ended = 0.0
        """When its end was seen: the status arrives later, from the fork server."""
        self._lock, self._telling = threading.Lock(), threading.Lock()
        """Held, for moments only, while the handle is used or closed; held while the status is received."""
        self._handle = -1
        try:
            self._handle = os.pidfd_open(pid)
        except ProcessLookupError:
            self._ended = time.monotonic()

    def poll(self) -> int | None:
        """The status if the process has ended. Never waits, not even for a fork server that sends it
        slowly."""
        if self.returncode is None and self._has_ended(0.0) and self._telling.acquire(blocking=False):
            try:
                self._read_status(0.0)
            finally:
                self._telling.release()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended. Raises subprocess.TimeoutExpired."""
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        with self._telling:
            self._read_status(_STATUS_SECONDS)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """End it at once."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self._handle >= 0:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def _has_ended(self, seconds: float | None) -> bool:
        """Wait up to ``seconds`` for its end, None for ever. Returns whether it has ended."""
        with self._lock:
            if self._ended or self._note_end(self._handle, 0.0) or seconds == 0.0:
                return bool(self._ended)
            copy = os.dup(self._handle)  # another thread may close the handle meanwhile
        try:
            self._note_end(copy, seconds)
        finally:
            os.close(copy)
        return bool(self._ended)

    def _note_end(self, handle: int, seconds: float | None) -> bool:
        # Not select, which takes no descriptor above 1023.
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if poll.poll(None if seconds is None else 1000 * seconds):
            self._ended = self._ended or time.monotonic()
        return bool(self._ended)

    def _read_status(self, seconds: float) -> None:
        """Set the status if it arrives within ``seconds``, or can no longer arrive."""
        if self.returncode is not None:
            return
        left = max(0.0, self._ended + _STATUS_SECONDS - time.monotonic())
        self._connection.settimeout(min(left, seconds))
        try:
            status = self._connection.recv(64)
        except OSError:
            if left > seconds:
                return
            status = b""
        self._connection.close()
        self.returncode = int(status) if status else -signal.SIGKILL
        with self._lock:
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1

    def __del__(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._connection.close()


def launch(
    module: str,
    arguments: Sequence[str] = (),
    files: Mapping[int, int] | None = None,
    *,
    session: bool = False,
    server: socket.socket | None = None,
) -> Forked | subprocess.Popen[bytes]:
    """Start a process that calls ``main`` of a module.

    Args:
        module: its ``main`` takes the arguments from ``sys.argv``.
        arguments: no secrets: every user can read them.
        files: descriptors of this process to inherit, by their number there; above 2 it must be the same
            number. 0, 1 and 2 are standard input, output and errors; by default the first two are empty and
            errors go to those of this process.
        session: whether it gets a session of its own, and with it a process group.
        server: the fork server behind this socket is asked, by default the one named by :func:`use`.

    Raises OSError if there are no more processes or files.
    """
    inherited = files or {}
    forked = fork(module, arguments, inherited, session=session, server=server)
    process = forked or anew(module, arguments, inherited, session=session)
    with _lock:
        _living.add(process)
        behind = _behind
    if behind:
        _set(process, BEHIND)
    return process


def launch_linked(
    module: str,
    files: Sequence[int],
    arguments: Sequence[str] = (),
    *,
    session: bool = False,
    errors: int | None = None,
) -> tuple[socket.socket, Forked | subprocess.Popen[bytes]]:
    """Start a module at the other end of a socket.

    Its first arguments are the numbers of that socket and of the files that it inherits, under the same
    numbers as here. The files are closed here. Errors go to the file ``errors``, by default to those of this
    process. Returns this end and the process. Raises OSError as :func:`launch`.
    """
    ours, theirs = socket.socketpair()
    numbers = theirs.fileno(), *files
    try:
        full_arguments = [*map(str, numbers), *arguments]
        inherited = {number: number for number in numbers} | ({} if errors is None else {2: errors})
        return ours, launch(module, full_arguments, inherited, session=session)
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
        for file in files:
            os.close(file)


def give_way(behind: bool) -> None:
    """Set whether the processes that this one launches, and has launched, give way to others that must answer
    in time (:mod:`players.processes.limits`). Holds for the life of this process; any thread may call it."""
    global _behind
    with _lock:
        living = list(_living) if behind != _behind else []
        _behind = behind
    for process in living:
        _set(process, BEHIND if behind else USUAL)


def _set(process: Forked | subprocess.Popen[bytes], nice: int) -> None:
    if process.returncode is None:
        set_threads(process.pid, nice)
        set_session(process.pid, nice)


def anew(
    module: str,
    arguments: Sequence[str],
    files: Mapping[int, int],
    *,
    session: bool = False,
) -> subprocess.Popen[bytes]:
    """As :func:`launch`, with a new interpreter."""
    variables = {name: value for name, value in os.environ.items() if name != SOCKET}
    passed = [number for number in files.values() if number > 2 and files.get(number) == number]
    if _connection is not None:
        variables[SOCKET] = str(_connection.fileno())
        passed.append(_connection.fileno())
    lent = lifeline.lend()
    if lent >= 0:
        variables[lifeline.VARIABLE] = lifeline.variable(lent)
        passed.append(lent)
    folders = [str(Path(players.__path__[0]).resolve().parent), os.environ.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {module} import main; main()", *arguments],
            stdin=files.get(0, subprocess.DEVNULL),
            stdout=files.get(1, subprocess.DEVNULL),
            stderr=files.get(2),
            pass_fds=passed,
            env=variables,
            # A Ctrl-C at the terminal is meant for the process that has started this one.
            start_new_session=session,
        )
        if lent >= 0:
            lifeline.bind(lent, process.pid)
        return process
    finally:
        if lent >= 0:
            os.close(lent)


def fork(
    module: str,
    arguments: Sequence[str],
    files: Mapping[int, int],
    *,
    session: bool = False,
    server: socket.socket | None = None,
) -> Forked | None:
    """As :func:`launch`, by a fork server. Returns None if there are none, or if none answers within
    :data:`_ANSWER_SECONDS`."""
    server = server or _connection
    if server is None:
        return None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request: dict[str, Any] = {
        "module": module,
        "arguments": list(arguments),
        "files": list(files),
        "session": session,
        "owner": os.getpid(),
    }
    line, pid = -1, b""
    try:
        line = lifeline.lend()
        packet, sent = json.dumps(request).encode(), [theirs.fileno(), line, *files.values()]
        socket.send_fds(server, [packet], sent, flags=socket.MSG_DONTWAIT)
        theirs.close()
        ours.settimeout(_ANSWER_SECONDS)
        try:
            pid = ours.recv(64)
        except TimeoutError:
            # A fork server that answers later than this ends the process at once.
            ours.shutdown(socket.SHUT_RD)
            pid = ours.recv(64)
        if pid:
            return Forked(int(pid), ours)
    except OSError:  # the socket takes no more requests, or there are no more descriptors
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    finally:
        theirs.close()
        if line >= 0:
            os.close(line)
    ours.close()
    return None


def use(server: socket.socket | None) -> None:
    """Use the fork server behind this socket from now on, here and in new interpreters started from here;
    None for none."""
    global _connection
    _connection = server


def _inherited() -> socket.socket | None:
    number = os.environ.get(SOCKET, "")
    try:
        if number.isdigit() and stat.S_ISSOCK(os.fstat(int(number)).st_mode):
            return socket.socket(fileno=int(number))
    except OSError:
        pass
    return None


_connection = _inherited()
_lock = threading.Lock()
_behind = False
_living: weakref.WeakSet[Forked | subprocess.Popen[bytes]] = weakref.WeakSet()

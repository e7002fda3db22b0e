"""Ends processes, stopped or not, when the first process of their tree is gone.

A process that is stopped by a signal cannot notice that its parent is gone, but the kernel can. The first
process of a tree holds the only writing end of a pipe. Each process below it has opened the reading end and
asked for SIGKILL when something happens there (``O_ASYNC``, ``F_SETSIG``; see fcntl(2)). Nothing is ever
written, so the only event is the end of the first process. Unlike ``PR_SET_PDEATHSIG`` this depends neither
on the parent, which may be a fork server that others replace, nor on the thread that has started a process.

On other systems than Linux a process itself notices the end of its input, or of the socket to its user.

The processes below this one, their memory, and the ones that are left over are read from ``/proc``. Without
``/proc`` (not Linux) none are found.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Collection, Iterable
from pathlib import Path

PATIENCE = 3
"""Number of times that a process may be seen left over before it is ended."""
_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36


def children(pid: int) -> list[int]:
    """The processes that a process has started or adopted."""
    pids: list[int] = []
    try:
        for task in (_PROC / str(pid) / "task").iterdir():
            pids += map(int, (task / "children").read_text(encoding="utf-8").split())
    except FileNotFoundError:
        if (_PROC / str(pid)).exists():  # not all kernels have these lists
            return [int(one.name) for one in _PROC.glob("[0-9]*") if _field(int(one.name), 1) == str(pid)]
    except (OSError, ValueError):
        pass
    return pids


def is_zombie(pid: int) -> bool:
    """Whether a process has ended, and its parent does not know yet."""
    return _field(pid, 0) == "Z"


def parent(pid: int) -> int:
    """The parent of a process; 0 if there is no such process."""
    return int(_field(pid, 1) or 0)


def _field(pid: int, number: int) -> str:
    """A field that ``/proc`` lists for a process after its name; empty if the process is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[number]
    except (OSError, IndexError):
        return ""


def descendants(pid: int) -> list[int]:
    """All processes below a process."""
    pids = children(pid)
    for child in pids:
        pids += children(child)
    return pids


def resident_bytes(pids: Iterable[int]) -> int:
    """The resident memory of these processes together, in bytes; shared pages count for each."""
    pages = 0
    for pid in pids:
        try:
            pages += int((_PROC / str(pid) / "statm").read_text(encoding="utf-8").split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def proportional_bytes(pid: int) -> int:
    """The memory of a process in bytes, with shared pages divided among the processes that have them; 0 if
    the system does not report it."""
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text(encoding="utf-8").splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


class LeftOver:
    """Counts how often in a row it sees processes that should end by themselves."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._told: set[int] = set()

    def note(self, pids: Iterable[int]) -> list[int]:
        """Record all processes that are left over now. Returns those that were so in :data:`PATIENCE` calls
        or more."""
        self._seen = {pid: self._seen.get(pid, 0) + 1 for pid in pids}
        self._told = {pid for pid in self._told if (_PROC / str(pid)).exists()}
        return [pid for pid, seen in self._seen.items() if seen >= PATIENCE]

    def begin_anew(self, pid: int) -> None:
        """Restart its count: it was ended just now, and its creator needs time to notice."""
        self._seen.pop(pid, None)

    def first_time(self, pid: int) -> bool:
        """Whether this is the first call for this process."""
        first = pid not in self._told
        self._told.add(pid)
        return first


class Orphans:
    """Processes left to this one because their parents have ended, which should end by themselves.

    Only for a process that knows all of its own children.
    """

    def __init__(self) -> None:
        self._adopts = False
        self._left_over = LeftOver()

    def adopt(self) -> None:
        """Make this process adopt such processes, instead of the system's first process; on Linux."""
        if sys.platform == "linux":
            try:
                libc = ctypes.CDLL(None, use_errno=True)
                self._adopts = libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
            except (OSError, AttributeError):
                self._adopts = False

    def end(self, own: Iterable[int]) -> list[int]:
        """End those that have not ended by themselves in several calls. Returns them, each once. The children
        ``own`` are not orphans."""
        left = self._left_over.note(self._children() - set(own))
        return [pid for pid in left if _end(pid) and self._left_over.first_time(pid)]

    def end_all(self) -> bool:
        """End all children. Returns whether there were any."""
        pids = self._children()
        for pid in pids:
            _end(pid)
        return bool(pids)

    def _children(self) -> set[int]:
        return set(children(os.getpid())) if self._adopts else set()


def _end(pid: int) -> bool:
    """End a child and reap it; False if it had ended."""
    try:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)
    except (ProcessLookupError, ChildProcessError, PermissionError):
        return False
    return True


VARIABLE = "GGP_LIFELINE"
"""The environment variable that passes the lifeline to a new interpreter: a descriptor and the pipe's
inode."""

_F_SETSIG = 10
_reading = -1
"""This process's own end; -1 if it has none."""
_writing = -1
"""The other end, in the first process of a tree."""


def lend() -> int:
    """A descriptor for a process that is about to be started by a new interpreter; -1 if there is none.

    The caller passes it on by :func:`variable`, binds it by :func:`bind`, and closes it here. Raises OSError
    if there are no more descriptors.
    """
    global _reading, _writing
    if sys.platform != "linux":
        return -1
    if _reading < 0:
        _reading, _writing = os.pipe()
    return _opened()


def variable(descriptor: int) -> str:
    """The value of :data:`VARIABLE` for a process that gets this descriptor."""
    return f"{descriptor}:{os.fstat(descriptor).st_ino}"


def bind(descriptor: int, pid: int) -> None:
    """Make the kernel end this process, and its group if it leads one, when the first process is gone."""
    try:
        owner = -pid if os.getpgid(pid) == pid else pid
    except ProcessLookupError:
        return
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, owner)


def rebind() -> None:
    """Bind this process once more, with its group if it leads one now. Ends it if the first process is gone
    already."""
    if _reading < 0 or _writing >= 0:
        return
    bind(_reading, os.getpid())
    poll = select.poll()
    poll.register(_reading, 0)
    if poll.poll(0):
        os._exit(1)


def only_wake() -> None:
    """When the first process is gone, continue this one if it is stopped, but do not end it: it has to free
    its resources."""
    if _reading >= 0 and _writing < 0:
        with contextlib.suppress(OSError):
            fcntl.fcntl(_reading, _F_SETSIG, signal.SIGCONT)


def own() -> int:
    """This process's descriptor; -1 if it has none."""
    return _reading


def move(taken: Collection[int]) -> int:
    """Move the descriptor to a number that is not in ``taken``; returns it, -1 if there is none."""
    global _reading
    if _reading >= 0:
        _reading, old = free_copy(_reading, taken), _reading
        os.close(old)
    return _reading


def free_copy(descriptor: int, taken: Collection[int]) -> int:
    """A copy of a descriptor, under a number that is not in ``taken``."""
    copy = os.dup(descriptor)
    if copy not in taken:
        return copy
    try:
        return free_copy(descriptor, taken)
    finally:
        os.close(copy)


def _opened() -> int:
    """A new end of the pipe, not yet bound to a process; -1 if ``/proc`` is missing."""
    try:
        descriptor = os.open(f"/proc/self/fd/{_reading}", os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return -1
    fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    return descriptor


def _forked() -> None:
    """Give a forked process an end of its own; it must not hold the writing end."""
    global _reading, _writing
    if _writing >= 0:
        os.close(_writing)
        _writing = -1
    if _reading < 0:
        return
    try:
        own, old = _opened(), _reading
    except OSError:  # no more descriptors: it goes on without
        own, old = -1, _reading
    os.close(old)
    _reading = own
    rebind()


def _inherited() -> int:
    descriptor, _, inode = os.environ.pop(VARIABLE, "").partition(":")
    try:
        status = os.fstat(int(descriptor))
    except (OSError, ValueError):
        return -1
    if not stat.S_ISFIFO(status.st_mode) or str(status.st_ino) != inode:
        return -1
    os.set_inheritable(int(descriptor), False)
    return int(descriptor)


def end_with(connection: int) -> None:
    """End this process, whatever it is busy with, when the other end of this socket or pipe is closed."""
    threading.Thread(target=_wait, args=(connection,), daemon=True, name="end").start()


def _wait(connection: int) -> None:
    poll = select.poll()
    poll.register(connection, select.POLLHUP)
    poll.poll()
    os._exit(0)


if sys.platform == "linux":
    _reading = _inherited()
    rebind()
    os.register_at_fork(after_in_child=_forked)

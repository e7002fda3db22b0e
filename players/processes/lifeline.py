"""Processes end with the one that has asked for them, stopped or not, however that ends.

A process that is stopped by a signal cannot notice that its owner is gone, but the kernel can. A process
that starts others holds the only writing end of a pipe. Each of them has opened the reading end and asked
for SIGKILL when something happens there (``O_ASYNC``, ``F_SETSIG``; see fcntl(2)). Nothing is ever written,
so the only event is the end of the owner. Unlike ``PR_SET_PDEATHSIG`` this depends neither on the parent,
which may be a fork server, nor on the thread that has started a process.

On other systems than Linux a process itself notices the end of its input, or of the socket to its owner.

The processes below this one and their memory are read from ``/proc``. Without ``/proc`` (not Linux) none are
found.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import stat
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

_PROC = Path("/proc")


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


def parent(pid: int) -> int:
    """The parent of a process; 0 if there is no such process."""
    return int(_field(pid, 1) or 0)


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal and does nothing until it is continued. False if the system
    does not report it."""
    return _field(pid, 0) in ("T", "t")


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


VARIABLE = "GGP_LIFELINE"
"""The environment variable that passes the lifeline to a new interpreter: a descriptor and the pipe's
inode."""

_F_SETSIG = 10
_held = -1
"""This process's end of its owner's pipe; -1 if it has none."""
_pipe: tuple[int, ...] = ()
"""The reading and the writing end of this process's own pipe; empty before it has started a process."""


class Lifeline:
    """This process's lifeline, as an argument of a process that :mod:`multiprocessing` starts."""

    def __init__(self) -> None:
        _open()

    def __reduce__(self) -> tuple[Callable[[Any], Lifeline], tuple[Any]]:
        from multiprocessing.reduction import DupFd  # 20 ms, which other processes do without

        return _joined, (DupFd(_pipe[0]) if _pipe else None,)


def _joined(end: Any) -> Lifeline:
    if end is not None:
        number = end.detach()
        take(_opened(number))
        os.close(number)
    return Lifeline()


def lend() -> int:
    """A descriptor for a process that is about to be started; -1 if there is none.

    It is passed to a new interpreter by :func:`variable` and bound by :func:`bind`, or sent to a fork server,
    whose child takes it by :func:`take`. The caller closes it here. Raises OSError if there are no more
    descriptors.
    """
    _open()
    return _opened(_pipe[0]) if _pipe else -1


def _open() -> None:
    global _pipe
    if sys.platform == "linux" and not _pipe:
        _pipe = os.pipe()


def variable(descriptor: int) -> str:
    """The value of :data:`VARIABLE` for a process that gets this descriptor."""
    return f"{descriptor}:{os.fstat(descriptor).st_ino}"


def bind(descriptor: int, pid: int) -> None:
    """Make the kernel end this process, and its group if it leads one, when the owner is gone."""
    try:
        owner = -pid if os.getpgid(pid) == pid else pid
    except ProcessLookupError:
        return
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, owner)


def take(descriptor: int) -> None:
    """Bind this process, with its group if it leads one, to the owner of this descriptor, instead of its
    former owner. Ends it if the owner is gone already."""
    global _held
    if _held not in (-1, descriptor):
        os.close(_held)
    _held = descriptor
    if _held < 0:
        return
    bind(_held, os.getpid())
    poll = select.poll()
    poll.register(_held, 0)
    if poll.poll(0):
        os._exit(1)


def only_wake() -> None:
    """When the owner is gone, continue this process if it is stopped, but do not end it: it has to free its
    resources."""
    if _held >= 0:
        with contextlib.suppress(OSError):
            fcntl.fcntl(_held, _F_SETSIG, signal.SIGCONT)


def move(taken: Collection[int]) -> int:
    """Move the descriptor to a number that is not in ``taken``; returns it, -1 if there is none."""
    global _held
    if _held >= 0:
        _held, old = free_copy(_held, taken), _held
        os.close(old)
    return _held


def free_copy(descriptor: int, taken: Collection[int]) -> int:
    """A copy of a descriptor, under a number that is not in ``taken``."""
    copy = os.dup(descriptor)
    if copy not in taken:
        return copy
    try:
        return free_copy(descriptor, taken)
    finally:
        os.close(copy)


def _opened(reading: int) -> int:
    """A new end of a pipe, not yet bound to a process; -1 if ``/proc`` is missing."""
    try:
        descriptor = os.open(f"/proc/self/fd/{reading}", os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return -1
    fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    return descriptor


def _forked() -> None:
    """Give a forked process an end of its own; it must not hold the writing end of its parent's pipe."""
    global _held, _pipe
    reading, held = _pipe[0] if _pipe else _held, -1
    with contextlib.suppress(OSError):  # no more descriptors: it goes on without
        held = _opened(reading) if reading >= 0 else -1
    for end in _pipe:
        os.close(end)
    _pipe = ()
    take(held)


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


if sys.platform == "linux":
    take(_inherited())
    os.register_at_fork(after_in_child=_forked)

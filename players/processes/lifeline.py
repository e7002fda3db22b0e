"""Processes that end, stopped or not, when the first of the processes that has started them is gone.

A process that is stopped by a signal cannot see that its parent is gone. The kernel can: the first process of
a tree holds the only writing end of a pipe, and each process below it has opened the reading end for itself
and asked for SIGKILL when something happens there (``O_ASYNC``, ``F_SETSIG``; see fcntl(2)). Nothing is ever
written, so that is the end of the first process. Unlike ``PR_SET_PDEATHSIG`` this follows neither the parent,
which may be a fork server that others replace, nor the thread that has started a process.

Elsewhere than on Linux a process sees by itself that its input has ended, or the socket to whoever wants it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Collection

VARIABLE = "GGP_LIFELINE"
"""The environment variable by which a new interpreter gets it: a descriptor and the pipe's inode."""

_F_SETSIG = 10
_reading = -1
"""This process's own end; -1 where it has none."""
_writing = -1
"""The other end, in the first process of a tree."""


def lend() -> int:
    """A descriptor for a process that is about to be started by a new interpreter, to be passed to it by
    :func:`variable`, bound to it by :func:`bind`, and closed here; -1 where there is none. Raises OSError if
    there are no more descriptors."""
    global _reading, _writing
    if sys.platform != "linux":
        return -1
    if _reading < 0:
        _reading, _writing = os.pipe()
    return _opened()


def variable(descriptor: int) -> str:
    """The value of :data:`VARIABLE` for a process that is lent this."""
    return f"{descriptor}:{os.fstat(descriptor).st_ino}"


def bind(descriptor: int, pid: int) -> None:
    """Have the kernel end this process, and its group if it leads one, when the first process is gone."""
    try:
        owner = -pid if os.getpgid(pid) == pid else pid
    except ProcessLookupError:
        return
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, owner)


def rebind() -> None:
    """Bind this process once more, with its group if it leads one now. Ends it if it is too late."""
    if _reading < 0 or _writing >= 0:
        return
    bind(_reading, os.getpid())
    poll = select.poll()
    poll.register(_reading, 0)
    if poll.poll(0):
        os._exit(1)


def only_wake() -> None:
    """When the first process is gone, have this one go on if it is stopped, but not end: it has to free what
    it holds."""
    if _reading >= 0 and _writing < 0:
        with contextlib.suppress(OSError):
            fcntl.fcntl(_reading, _F_SETSIG, signal.SIGCONT)


def own() -> int:
    """This process's descriptor; -1 where it has none."""
    return _reading


def move(taken: Collection[int]) -> int:
    """Move the descriptor to a number that is not taken; returns it, -1 where there is none."""
    global _reading
    if _reading >= 0:
        _reading, old = free_copy(_reading, taken), _reading
        os.close(old)
    return _reading


def free_copy(descriptor: int, taken: Collection[int]) -> int:
    """A copy of a descriptor, under a number that is not taken."""
    copy = os.dup(descriptor)
    if copy not in taken:
        return copy
    try:
        return free_copy(descriptor, taken)
    finally:
        os.close(copy)


def _opened() -> int:
    """A new end of the pipe, not yet bound to a process; -1 where ``/proc`` is missing."""
    try:
        descriptor = os.open(f"/proc/self/fd/{_reading}", os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return -1
    fcntl.fcntl(descriptor, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    return descriptor


def _forked() -> None:
    """A forked process needs an end of its own, and must not hold the writing one."""
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

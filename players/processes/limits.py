"""Resources of a process: processors, limits for work on strangers' rules, and priorities on the processors;
errors on one line.

The event loop and the processes that hold safe moves need almost no time, but may have to wait on a busy
computer. Two nice values set the priorities, and both must be set:

* the nice value of a thread. A raised value cannot be lowered again unless the system permits it (as root, or
  by ``RLIMIT_NICE``);
* on Linux with ``sched_autogroup_enabled``, the nice value of a *session*. Sessions share the processors
  whatever the nice values of their threads are, and each process of a match leads one. A raised value can be
  lowered again (``man 7 sched``, "The autogroup feature").
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from gdl.visible import visible

_LIMITED = find_spec("resource") is not None
"""Whether processes have limits on this platform."""

if _LIMITED:
    import resource


def cores() -> int:
    """Number of processors that this process may use."""
    return len(processors())


def processors() -> list[int]:
    """The numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def limit_memory(size: int) -> None:
    """Let this process allocate at most ``size`` bytes of data, and at most half of the computer's
    memory; more is a MemoryError."""
    if _LIMITED:
        _limit(resource.RLIMIT_DATA, min(size, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2))


def limit_files(size: int) -> None:
    """Let no file that this process writes grow beyond ``size`` bytes; more is an OSError."""
    if _LIMITED:
        _limit(resource.RLIMIT_FSIZE, size)


def limit_cpu(seconds: float) -> None:
    """End this process by a signal (SIGXCPU, then SIGKILL) when all of its threads together have used
    ``seconds`` more of CPU time."""
    if not _LIMITED:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(used.ru_utime + used.ru_stime + seconds)
    last = _at_most(limit + 5, resource.getrlimit(resource.RLIMIT_CPU)[1])
    resource.setrlimit(resource.RLIMIT_CPU, (min(limit, last), last))


def _limit(kind: int, size: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (_at_most(size, hard), hard))


def _at_most(limit: int, hard: int) -> int:
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)


def describe(error: BaseException) -> str:
    """An unexpected error on one line, with the innermost place it came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
    return visible(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}")


FIRST = 5
"""Amount by which the nice value is lowered."""
BEHIND = 10
"""Nice value of processes that give way: their weight is a ninth of the usual one."""
WAITS = 5
"""Nice value of the session of a process that thinks and also follows a match: ahead of its searches, behind
standbys. While some standby knows no legal move, the session gives way as searches do. It is also the value
of a standby that practises."""
USUAL = 0
_TRIES, _AGAIN_SECONDS = 100, 0.11
"""The system accepts ten such changes a second from all users other than root."""
_BEGINS = 5
"""Number of tries that wait for a process that was just forked to begin its session."""
_usual: int | None = None
_pending: dict[int, int] = {}
"""Sessions whose nice value the system has not taken yet."""
_pending_lock = threading.Lock()
"""Held while pending values change: a thread that finds one must replace it before it is set and removed."""


def go_first() -> None:
    """Give this thread, and threads that it starts, priority if permitted."""
    global _usual
    if not hasattr(os, "setpriority"):
        return
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), usual - FIRST)
        _usual = usual


def go_as_usual() -> None:
    """Undo :func:`go_first` for this thread and the processes that it starts."""
    if _usual is not None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _usual)


def set_session(leader: int, nice: int) -> None:
    """Give the session that this process leads a nice value. Does nothing if it leads none, because the
    session may belong to a user's terminal. If the system is too busy to accept the value now, a thread tries
    again."""
    if sys.platform != "linux":
        return
    with _pending_lock:
        waits = leader in _pending
        _pending[leader] = nice
    if not waits:
        _try(leader, _TRIES)


def _try(leader: int, tries: int) -> None:
    nice, later = _pending[leader], False
    try:
        if os.getsid(leader) == leader:
            Path(f"/proc/{leader}/autogroup").write_text(str(nice), encoding="utf-8")
        else:
            later = leader != os.getpid() and tries > _TRIES - _BEGINS
    except BlockingIOError:
        later = tries > 0
    except OSError:  # it has ended, it is not permitted, or the system has no such groups
        pass
    if later:
        timer = threading.Timer(_AGAIN_SECONDS, _try, (leader, tries - 1))
        timer.daemon = True
        timer.start()
        return
    with _pending_lock:
        latest = _pending.pop(leader, nice)
    if latest != nice:  # another thread has set a new value meanwhile
        set_session(leader, latest)


def set_threads(pid: int, nice: int) -> None:
    """Give all threads of a process a nice value, if permitted."""
    if not hasattr(os, "setpriority"):
        return
    try:
        threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        threads = [pid]
    for thread in threads:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, nice)

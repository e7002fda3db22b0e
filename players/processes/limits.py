"""Limits of what a process that works on strangers' rules may use, and errors on one line."""

from __future__ import annotations

import math
import os
from importlib.util import find_spec

_LIMITED = find_spec("resource") is not None
"""Whether processes have limits on this platform."""

if _LIMITED:
    import resource


def limit_memory(size: int) -> None:
    """Let this process allocate at most ``size`` bytes of data, and at most half of the computer's
    memory; more is a MemoryError."""
    if _LIMITED:
        _limit(resource.RLIMIT_DATA, min(size, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2))


def limit_files(size: int) -> None:
    """Let no file that this process writes become longer than ``size`` bytes; more is an OSError."""
    if _LIMITED:
        _limit(resource.RLIMIT_FSIZE, size)


def limit_cpu(seconds: float) -> None:
    """End this process by a signal (SIGXCPU, then SIGKILL) when all of its threads together have used
    so many more seconds of CPU time."""
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
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"

"""What the processes that work on strangers' rules have in common: limits of what they may use,
errors on one line, and games to warm up with."""

from __future__ import annotations

import math
import os


def limit_memory(size: int) -> None:
    """Let this process allocate at most ``size`` bytes of data, and at most half of the computer's
    memory; more is a MemoryError."""
    try:
        import resource
    except ImportError:  # not on this platform
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    size = min(size, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def limit_cpu(seconds: float) -> None:
    """End this process by a signal (SIGXCPU, then SIGKILL) when all of its threads together have used
    so many more seconds of CPU time."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = math.ceil(used.ru_utime + used.ru_stime + seconds)
    last = limit + 5 if hard == resource.RLIM_INFINITY else min(limit + 5, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (min(limit, last), last))


def limit_files(size: int) -> None:
    """Let no file that this process writes become longer than ``size`` bytes; then it is an OSError."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))


def describe(error: BaseException) -> str:
    """An unexpected error on one line, with the innermost place it came from."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        place = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"

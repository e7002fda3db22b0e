"""What the processes that work on strangers' rules have in common: limits of what they may use,
errors on one line, and games to warm up with."""

from __future__ import annotations

import math
import os

from gdl.errors import GdlError

WARM_UP_GAMES = (
    "(role a) (init (n 0)) (legal a x) (legal a y) (<= (next (n 1)) (true (n 0)) (does a x))"
    " (<= terminal (true (n 1))) (goal a 100)",
    "(role a) (role b) (init (n 0)) (legal a x) (legal a y) (legal b x) (legal b y)"
    " (<= (next (n 1)) (true (n 0)) (does a x)) (<= (next (n 0)) (does a y) (does b x))"
    " (<= terminal (true (n 1))) (goal a 100) (goal b 0)",
)
"""Games whose only purpose is that everything is compiled once before a match needs it."""


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


def compile_seconds(usual: float) -> float:
    """Wall time that the native code of a game may take: ``$GGP_COMPILE_SECONDS``, or what is usual.

    Raises:
        GdlError: the variable is no number of seconds.
    """
    chosen = os.environ.get("GGP_COMPILE_SECONDS")
    if not chosen:
        return usual
    try:
        seconds = float(chosen)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise GdlError(
            f"GGP_COMPILE_SECONDS is {chosen!r}", remedy="set it to a number of seconds, 0 for no native code"
        )
    return seconds

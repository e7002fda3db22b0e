"""The processes below this one: which there are, what memory they take, which are stopped or left over.

Read from ``/proc``; where there is none (not Linux), nothing is found.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36


def children(pid: int) -> list[int]:
    """The processes that a process has started, or that were left to it."""
    found: list[int] = []
    try:
        for task in (_PROC / str(pid) / "task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except (OSError, ValueError):
        pass
    return found


def descendants(pid: int) -> list[int]:
    """All processes below a process."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def resident_bytes(pids: Iterable[int]) -> int:
    """The resident memory of these processes together, in bytes; shared pages count for each."""
    total = 0
    for pid in pids:
        try:
            total += int((_PROC / str(pid) / "statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return total * os.sysconf("SC_PAGE_SIZE") if total else 0


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal: it does nothing until it is told to go on."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] in ("T", "t")
    except (OSError, IndexError):
        return False


def adopt_orphans() -> bool:
    """Have processes whose parents end left to this one and not to the system's first; whether that
    can be done here."""
    if sys.platform != "linux":
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return int(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0
    except (OSError, AttributeError):
        return False


def end_orphan(pid: int) -> None:
    """End a process that was left to this one and what is below it, and forget it."""
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)
    except (ProcessLookupError, ChildProcessError, PermissionError):
        return

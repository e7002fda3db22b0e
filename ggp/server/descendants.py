"""The processes below this one: which there are, what memory they take, which are left over.

Read from ``/proc``; where there is none (not Linux), nothing is found.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

PATIENCE = 3
"""How often an orphan may be seen before it is ended."""

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


def proportional_bytes(pids: Iterable[int]) -> int:
    """The memory of these processes together, in bytes: what several of them share counts once, in
    shares."""
    total = 0
    for pid in pids:
        try:
            lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024


class Orphans:
    """Processes left to this one because their parents have ended, and that should end by themselves.

    Only for a process whose own children are all known.
    """

    def __init__(self) -> None:
        self._adopts = False
        self._seen: dict[int, int] = {}

    def adopt(self) -> None:
        """Have such processes left to this one, and not to the system's first; on Linux."""
        if sys.platform == "linux":
            try:
                libc = ctypes.CDLL(None, use_errno=True)
                self._adopts = libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
            except (OSError, AttributeError):
                self._adopts = False

    def end(self, own: Iterable[int]) -> list[int]:
        """End those that have not ended by themselves since :data:`PATIENCE` calls; which these are.

        Args:
            own: the children that were not left to it.
        """
        left = self._left(own)
        self._seen = {pid: self._seen.get(pid, 0) + 1 for pid in left}
        return [pid for pid, seen in self._seen.items() if seen >= PATIENCE and _end(pid)]

    def end_all(self) -> bool:
        """End all children; whether there were any."""
        left = self._left(())
        for pid in left:
            _end(pid)
        return bool(left)

    def _left(self, own: Iterable[int]) -> set[int]:
        return set(children(os.getpid())) - set(own) if self._adopts else set()


def _end(pid: int) -> bool:
    """End a child and forget it; False where it had ended."""
    try:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return False
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, os.WNOHANG)
    except (ProcessLookupError, ChildProcessError, PermissionError):
        return False
    return True

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
"""How often a process may be seen left over before it is ended."""
_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36


def children(pid: int) -> list[int]:
    """The processes that a process has started, or that were left to it."""
    pids: list[int] = []
    try:
        for task in (_PROC / str(pid) / "task").iterdir():
            pids += map(int, (task / "children").read_text().split())
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
    """The parent of a process; 0 where there is no such process."""
    return int(_field(pid, 1) or 0)


def _field(pid: int, number: int) -> str:
    """What ``/proc`` tells of a process after its name; empty where it is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[number]
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
            pages += int((_PROC / str(pid) / "statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") if pages else 0


def proportional_bytes(pid: int) -> int:
    """The memory of a process in bytes, shared pages shared out among those that have them; 0 where the
    system does not tell."""
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


class LeftOver:
    """Counts how often in a row processes are seen that should end by themselves."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._told: set[int] = set()

    def note(self, pids: Iterable[int]) -> list[int]:
        """Note all that are left over now; those that were so in :data:`PATIENCE` calls or more."""
        self._seen = {pid: self._seen.get(pid, 0) + 1 for pid in pids}
        self._told = {pid for pid in self._told if (_PROC / str(pid)).exists()}
        return [pid for pid, seen in self._seen.items() if seen >= PATIENCE]

    def begin_anew(self, pid: int) -> None:
        """Count anew: it was ended just now, and whoever has made it needs time to take note."""
        self._seen.pop(pid, None)

    def first_time(self, pid: int) -> bool:
        """Whether this was not asked about a process before."""
        first = pid not in self._told
        self._told.add(pid)
        return first


class Orphans:
    """Processes left to this one because their parents have ended, and that should end by themselves.

    Only for a process whose own children are all known.
    """

    def __init__(self) -> None:
        self._adopts = False
        self._left_over = LeftOver()

    def adopt(self) -> None:
        """Have such processes left to this one, and not to the system's first; on Linux."""
        if sys.platform == "linux":
            try:
                libc = ctypes.CDLL(None, use_errno=True)
                self._adopts = libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
            except (OSError, AttributeError):
                self._adopts = False

    def end(self, own: Iterable[int]) -> list[int]:
        """End those that have not ended by themselves in several calls; which these are, each once. The
        children ``own`` were not left to it."""
        left = self._left_over.note(self._children() - set(own))
        return [pid for pid in left if _end(pid) and self._left_over.first_time(pid)]

    def end_all(self) -> bool:
        """End all children; whether there were any."""
        pids = self._children()
        for pid in pids:
            _end(pid)
        return bool(pids)

    def _children(self) -> set[int]:
        return set(children(os.getpid())) if self._adopts else set()


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

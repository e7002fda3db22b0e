"""Processes end with the one that has started them, however it ends."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
_LOOK_SECONDS = 0.5


def end_with_parent() -> None:
    """In a process of :mod:`multiprocessing`: :func:`end_with` the one that has started it."""
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        end_with(parent.pid)


def end_with(parent: int) -> None:
    """End this process at once when its parent is gone, even if this one is stopped then.

    Linux does so at the end of the *thread* that has started this process; see prctl(2). Elsewhere a thread
    looks twice a second, which it cannot while the process is stopped.

    Args:
        parent: the process that has started this one.
    """
    if not _kernel_ends():
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.name == "posix" and os.getppid() != parent:  # it was gone before
        os._exit(1)


def _kernel_ends() -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _watch(parent: int) -> None:
    while os.name != "posix" or os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)

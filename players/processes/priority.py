"""Right of way on the processors for processes that must answer in time.

The event loop and the processes that hold safe moves use next to nothing, but may have to wait on a busy
computer. Two things say who goes first, and both have to be set:

* the nice value of a thread. Raising it is for good where the system grants no more (as root, or by
  ``RLIMIT_NICE``);
* on Linux with ``sched_autogroup_enabled``, the nice value of a *session*. Sessions share the processors among
  themselves whatever their threads' nice values are, and each process of a match leads one. Raising it can be
  taken back (``man 7 sched``, "The autogroup feature").
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

FIRST = 5
"""How much the nice value is lowered."""
BEHIND = 10
"""Nice value of what gives way: it has a ninth of the weight of what does not."""
WAITS = 5
"""Nice value of the session of a process that thinks, and also follows a match: before its own searches, but
behind keepers."""
USUAL = 0
_TRIES, _AGAIN_SECONDS = 20, 0.11
"""The system takes ten such changes a second from all who are not root."""
_usual: int | None = None


def go_first() -> None:
    """Let this thread, and threads that it starts, go first if permitted."""
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


def set_session(leader: int, nice: int, tries: int = _TRIES) -> None:
    """Give the session that this process leads a nice value; can be undone. Does nothing where it leads none:
    the session may be that of somebody's terminal. What the system does not take now is tried again."""
    if sys.platform != "linux":
        return
    try:
        if os.getsid(leader) == leader:
            Path(f"/proc/{leader}/autogroup").write_text(str(nice))
    except BlockingIOError:
        if tries > 1:
            again = threading.Timer(_AGAIN_SECONDS, set_session, (leader, nice, tries - 1))
            again.daemon = True
            again.start()
    except OSError:  # it has ended, or the system has no such groups
        return


def set_threads(pid: int, nice: int) -> None:
    """Give all threads of a process a nice value, as far as permitted."""
    if not hasattr(os, "setpriority"):
        return
    try:
        threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        threads = [pid]
    for thread in threads:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, nice)

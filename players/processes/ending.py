"""Processes that end when whoever has started them is gone, or wants them no more."""

from __future__ import annotations

import os
import select
import threading


def end_with(connection: int) -> None:
    """End this process, whatever it is busy with, when the other end of this socket or pipe is closed."""
    threading.Thread(target=_wait, args=(connection,), daemon=True, name="end").start()


def _wait(connection: int) -> None:
    poll = select.poll()
    poll.register(connection, select.POLLHUP)
    poll.poll()
    os._exit(0)

"""The end of a process that was started by :meth:`ggp.processes.child.Child.spawn`: lines of JSON, both ways.

When the other end is closed or gone, this process ends, whatever it is busy with: nothing is left behind by
a server or a tournament that is killed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError
from players.processes import lifeline
from players.processes.limits import describe

JsonMessage = dict[str, Any]
Inbox = queue.SimpleQueue[JsonMessage]
Send = Callable[..., None]
"""Takes a kind of message and its fields."""


class Parent:
    """The other process. To be made once, before anything is printed.

    Args:
        receive: called in a thread with each message.
        end_seconds: None to end this process at once when the parent is gone. Otherwise ``receive`` is then
            given ``{"do": "end"}``, and so many seconds later this process and its group are ended.
    """

    def __init__(self, receive: Callable[[JsonMessage], object], end_seconds: float | None = None) -> None:
        if end_seconds is not None:
            lifeline.only_wake()
        # What libraries print must not mix with the messages.
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._lock = threading.Lock()
        listener = threading.Thread(target=_listen, args=(receive, end_seconds), daemon=True, name="listener")
        listener.start()

    def send(self, kind: str, /, **fields: object) -> None:
        """Send a message, from any thread. Raises BrokenPipeError if the parent is gone."""
        line = json.dumps({**fields, "kind": kind}).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()


def _listen(receive: Callable[[JsonMessage], object], end_seconds: float | None) -> None:
    try:
        for line in sys.stdin.buffer:
            receive(json.loads(line))
    except (OSError, ValueError):  # it was killed, perhaps in the middle of a line
        pass
    if end_seconds is None:
        os._exit(0)
    try:
        receive({"do": "end"})
        time.sleep(end_seconds)
    finally:
        leave()


def leave() -> None:
    """End this process and, where it leads one, its group, at once."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def explain(error: Exception, what: str) -> str:
    """What went wrong with strangers' rules, on one line; ``what`` they were used for."""
    if isinstance(error, GdlError):
        return str(error)
    if isinstance(error, MemoryError | RecursionError):
        return f"these rules need more memory than a {what} may take"
    return f"internal error, {describe(error)}"

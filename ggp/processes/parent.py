"""The end of a process that was started by :meth:`ggp.processes.child.Child.spawn`: lines of JSON, both ways.

When the other end is closed or gone, this process ends, whatever it is busy with. So a server or a tournament
that is killed leaves no processes behind. :func:`answer_requests` answers a
:class:`ggp.processes.workers.Workers` within limits; :func:`serve` handles a server's messages in a match
process and in a standby.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping

from gdl.errors import GdlError
from players.processes import lifeline
from players.processes.limits import describe, limit_cpu, limit_memory
from players.processes.lines import JsonMessage as JsonMessage

Inbox = queue.SimpleQueue[JsonMessage]
Send = Callable[..., None]
"""Takes a kind of message and its fields."""


class Parent:
    """The process that started this one. Create it once, before anything is printed.

    Args:
        receive: called in a thread with each message.
        end_seconds: None to end this process at once when the parent is gone. Otherwise ``receive`` then gets
            ``{"do": "end"}``, and after this many seconds this process and its group are ended.
    """

    def __init__(self, receive: Callable[[JsonMessage], object], end_seconds: float | None = None) -> None:
        if end_seconds is not None:
            lifeline.only_wake()
        # The output of libraries must not mix with the messages.
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
    """End this process at once, and its group if it leads one."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def explain(error: Exception, what: str) -> str:
    """The error with strangers' rules on one line; ``what`` is the purpose for which they were used."""
    if isinstance(error, GdlError):
        return str(error)
    if isinstance(error, MemoryError | RecursionError):
        return f"these rules need more memory than a {what} may take"
    return f"internal error, {describe(error)}"


Answer = Callable[[JsonMessage, Send], Mapping[str, object]]
"""Takes a request and a function that sends progress reports; returns the answer."""
IDLE_SECONDS = 600.0
"""Seconds without requests after which the process ends; another takes its place."""


def answer_requests(answer: Answer, what: str, memory: int, cpu_seconds: float) -> None:
    """Answer requests until the parent is gone.

    Args:
        answer: may raise any exception; the parent gets a one-line error.
        what: the purpose of the process, for messages: ``drawing``.
        memory: bytes that it may allocate.
        cpu_seconds: for all requests together.
    """
    inbox = Inbox()
    parent = Parent(inbox.put)
    limit_memory(memory)
    limit_cpu(cpu_seconds)
    while True:
        try:
            request: JsonMessage = inbox.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            return
        try:
            parent.send("done", **answer(request, parent.send))
        except BrokenPipeError:
            return
        except Exception as error:
            parent.send("refused", error=explain(error, what))


def serve(
    inbox: Inbox,
    send: Send,
    do: Callable[[JsonMessage], None],
    clean: Callable[[], bool],
    meanwhile: Callable[[], bool] = lambda: False,
) -> None:
    """Handle each message, up to ``stop`` or until the server is gone.

    A message that fails is answered with ``refused``, and ``clean()``: whether this process can take another
    match. While there is no message, the process does other work by calling ``meanwhile()`` as long as it
    returns that there is more.
    """
    ends = False
    while not ends:
        while inbox.empty() and meanwhile():
            pass
        message = inbox.get()
        ends = message["do"] == "stop"
        try:
            do(message)
        except (BrokenPipeError, KeyboardInterrupt):
            break
        except Exception as error:
            send("refused", error=explain(error, "match"), turn=message.get("id"), clean=clean())

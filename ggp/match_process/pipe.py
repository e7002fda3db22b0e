"""A match process's and a keeper's end of the pipe to the server: one JSON object per line, both ways.

When its input ends, the server is gone and so is this process at once, whatever it is busy with.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError
from players.processes.limits import describe

Message = dict[str, Any]
Send = Callable[..., None]
"""Takes a kind of message and its fields."""


def open_pipe() -> tuple[Send, queue.SimpleQueue[Message]]:
    """How to send messages, from any thread, and where those of the server come in. To be called once."""
    # What libraries print must not mix with the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(kind: str, **fields: object) -> None:
        line = json.dumps({"kind": kind, **fields}).encode() + b"\n"
        with lock:
            out.write(line)
            out.flush()

    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox,), daemon=True, name="listener").start()
    return send, inbox


def _listen(inbox: queue.SimpleQueue[Message]) -> None:
    for line in sys.stdin.buffer:
        inbox.put(json.loads(line))
    os._exit(0)


def attempt(do: Callable[[], None]) -> str:
    """Do something with strangers' rules; what went wrong, in one line, or nothing.

    Raises:
        BrokenPipeError, KeyboardInterrupt: nobody wants to know any more.
    """
    try:
        do()
    except GdlError as problem:
        return str(problem)
    except (MemoryError, RecursionError):
        return "these rules need more memory than a match may take"
    except BrokenPipeError:
        raise
    except Exception as problem:
        return f"internal error, {describe(problem)}"
    return ""


def serve(
    inbox: queue.SimpleQueue[Message], send: Send, do: Callable[[Message], None], clean: Callable[[], bool]
) -> None:
    """Do what each message asks for, up to ``stop`` or until nobody wants to know any more.

    What fails is told, with ``clean()``: whether this process can take another match.
    """
    ends = False
    while not ends:
        message = inbox.get()
        ends = message["do"] == "stop"
        try:
            error = attempt(lambda message=message: do(message))  # type: ignore[misc]
        except (BrokenPipeError, KeyboardInterrupt):
            break
        if error:
            send("refused", error=error, turn=message.get("id"), clean=clean())

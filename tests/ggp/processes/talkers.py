"""What the processes of the tests do: ``python -m tests.ggp.processes.talkers HOW``."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys

from ggp.processes.parent import Message, Parent


def main() -> None:
    """Answer each message as the argument says."""
    inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
    parent = Parent(inbox.put, 0.2 if "patient" in sys.argv else None)
    print("this is no message")
    parent.send("ready", pid=os.getpid(), variable=os.environ.get("TALKER", ""))
    while True:
        message = inbox.get()
        match message["do"]:
            case "echo":
                parent.send("echo", text=message["text"])
            case "nonsense":
                os.write(parent._out.fileno(), b"{no JSON\n")
            case "long":
                parent.send("long", text="x" * message["size"])
            case "have a child":
                child = subprocess.Popen(["sleep", "3600"])  # it holds the connection open
                parent.send("child", pid=child.pid)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "hang up":
                os.close(0)
                parent._out.close()
            case "end":
                with contextlib.suppress(BrokenPipeError):
                    parent.send("freed")


if __name__ == "__main__":
    main()

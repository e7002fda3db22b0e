"""What the processes of the tests do: ``python -m tests.ggp.processes.talkers HOW``."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys

from ggp.processes.parent import Inbox, Parent


def main() -> None:
    """Answer each message as the argument says."""
    inbox = Inbox()
    parent = Parent(inbox.put, 0.2 if "patient" in sys.argv else None)
    print("this is no message")
    parent.send("ready", pid=os.getpid())
    while True:
        message = inbox.get()
        match message["do"]:
            case "echo":
                parent.send("echo", text=message["text"])
            case "write":
                os.write(parent._out.fileno(), message["text"].encode())
            case "have a child":
                child = subprocess.Popen(["sleep", "3600"])  # it holds the connection open
                parent.send("child", pid=child.pid)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "hang up":
                socket.socket(fileno=os.dup(0)).shutdown(socket.SHUT_WR)
            case "end":
                with contextlib.suppress(BrokenPipeError):
                    parent.send("freed")


if __name__ == "__main__":
    main()

"""How a match process and a keeper take the server's messages: one after another, whatever fails."""

from __future__ import annotations

from collections.abc import Callable

from ggp.processes.parent import Inbox, JsonMessage, Send, explain


def serve(inbox: Inbox, send: Send, do: Callable[[JsonMessage], None], clean: Callable[[], bool]) -> None:
    """Do what each message says, up to ``stop`` or until the server is gone.

    What fails is answered with ``refused``, and ``clean()``: whether this process can take another match.
    """
    ends = False
    while not ends:
        message = inbox.get()
        ends = message["do"] == "stop"
        try:
            do(message)
        except (BrokenPipeError, KeyboardInterrupt):
            break
        except Exception as error:
            send("refused", error=explain(error, "match"), turn=message.get("id"), clean=clean())

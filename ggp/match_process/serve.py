"""How a match process and a keeper take the server's messages: one after another, whatever fails."""

from __future__ import annotations

from collections.abc import Callable

from ggp.processes.parent import Inbox, JsonMessage, Send, explain


def serve(
    inbox: Inbox,
    send: Send,
    do: Callable[[JsonMessage], None],
    clean: Callable[[], bool],
    meanwhile: Callable[[], bool] = lambda: False,
) -> None:
    """Do what each message says, up to ``stop`` or until the server is gone.

    What fails is answered with ``refused``, and ``clean()``: whether this process can take another match.
    While there is no message it takes a step of other work, ``meanwhile()``, as long as that says that there
    is more.
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

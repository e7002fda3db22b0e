"""The process of a standby of a match, which always holds a legal move.

It follows the match as the match process does, receives the same messages, and names a safe move in each turn
without thinking. So the server knows a legal move whatever happens to the process that thinks. The server
does not do this itself because rules are hostile and provers can be slow.
"""

from __future__ import annotations

import gc
import os

from gdl.syntax.parser import parse_rules
from ggp.match_process.match_follower import Follower
from ggp.processes.parent import Inbox, JsonMessage, Parent, serve
from players.processes.limits import go_first, limit_memory

MEMORY_BYTES = 2 * 1024**3
"""Limit of data in bytes: rules come from the network."""


def main() -> None:
    """Serve one match, and end."""
    limit_memory(MEMORY_BYTES)
    go_first()
    inbox = Inbox()
    send = Parent(inbox.put).send
    follower: Follower | None = None

    def do(message: JsonMessage) -> None:
        nonlocal follower
        match message["do"]:
            case "start":
                follower = Follower(parse_rules(message["rules"], message["match"]), message, send)
                gc.freeze()  # a garbage collection over rules and code takes 0.1 s of a turn now and then
            case "play" if follower is not None:
                follower.play(message)
            case "judge" if follower is not None:
                follower.judge(message)
            case "stop" if follower is not None:
                follower.finish(message)

    serve(inbox, send, do, lambda: False, lambda: follower is not None and follower.look_ahead())
    os._exit(0)

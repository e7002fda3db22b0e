"""Keeps a legal move of one match at hand: ``python -m ggp.match_process.safe_move_process``.

It follows the match beside the match process, takes the same messages, and names a safe move in each
turn, and nothing else: it does not think. So whatever happens to the other one, the server knows what
is legal. Here and not in the server, since rules are hostile and provers can be slow.
"""

from __future__ import annotations

import os

from gdl.syntax.parser import parse_rules
from ggp.match_process.match_follower import Follower
from ggp.match_process.pipe import Message, open_pipe, serve
from players.processes.limits import limit_memory
from players.processes.priority import go_first

MEMORY_BYTES = 2 * 1024**3
"""Data that it may allocate: rules come from the network."""


def main() -> None:
    """Serve one match, and end."""
    limit_memory(MEMORY_BYTES)
    go_first()
    send, inbox = open_pipe()
    follower: Follower | None = None

    def do(message: Message) -> None:
        nonlocal follower
        match message["do"]:
            case "start":
                follower = Follower(parse_rules(message["rules"], message["match"]), message, send)
            case "play" if follower is not None:
                follower.play(message)
            case "stop" if follower is not None:
                follower.finish(message)

    serve(inbox, send, do, lambda: False)
    os._exit(0)


if __name__ == "__main__":
    main()

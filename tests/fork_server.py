"""A fork server for tests: their processes are forks of one that has everything imported."""

from __future__ import annotations

import json
import os
import socket
from importlib import import_module

from players.processes import launch
from players.processes.fork_server import THIS


class ForkServer:
    """A fork server that warms up by ``module:function`` and its arguments; processes are started by it until
    it is closed, or another one is used."""

    def __init__(self, warm_up: str, *arguments: str) -> None:
        self.sockets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.lifeline, theirs = os.pipe()[::-1]
        ours, out = os.pipe()
        os.set_blocking(out, False)  # nobody need read its messages
        requests, client = (end.fileno() for end in self.sockets)
        self.first = launch.anew(
            THIS,
            [str(requests), str(client), warm_up, *arguments],
            {0: theirs, 1: out, requests: requests, client: client},
        )
        os.close(theirs)
        os.close(out)
        self.messages = os.fdopen(ours, "rb")
        assert "ready" in json.loads(self.messages.readline())
        launch.use(self.sockets[1])

    def close(self) -> None:
        """End it."""
        launch.use(None)
        os.close(self.lifeline)
        if self.first.poll() is None and launch.is_stopped(self.first.pid):
            self.first.kill()
        self.first.wait(20)
        for end in self.sockets:
            end.close()
        self.messages.close()


def import_all() -> None:
    """Import what the processes of matches and of pages run."""
    from ggp.warm import PROCESSES
    from ggp.web.rooms import rooms

    of_rooms = (module for room in rooms().values() for module in room.processes)
    for module in (*PROCESSES, *of_rooms):
        import_module(module)

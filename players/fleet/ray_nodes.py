"""Nodes of Ray on this computer, in a process of their own: ``python -m players.fleet.ray_nodes COUNT``.

Ray ends a process that loses its cluster; a server must not end with it. The process is nobody's child: a
server ends children that it does not know.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from gdl.errors import GdlError
from players.fleet.ray_access import close_doors, installed

END_SECONDS = 20.0


@contextmanager
def ray_nodes(count: int) -> Iterator[str]:
    """So many nodes while this is open; gives their address. The token is in this process's environment.
    Raises GdlError where Ray is not installed, or the nodes do not start."""
    installed()
    close_doors(own=True)
    command = [sys.executable, "-m", "players.fleet.ray_nodes", str(count)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.wait()
        pid, _, address = process.stdout.readline().strip().partition(" ")
        if not address:
            raise GdlError("the nodes of Ray do not start", remedy="its own messages stand above")
        yield address
        process.stdin.close()
        if not select.select([process.stdout], [], [], END_SECONDS)[0]:  # its end
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    finally:
        process.stdin.close()
        process.stdout.close()


def main() -> None:
    """Start nodes, say where they are, and end them when the other side hangs up."""
    if os.fork():
        os._exit(0)
    from players.fleet.ray_fleet import local_cluster

    cluster = local_cluster(int(sys.argv[1]))
    try:
        print(os.getpid(), cluster.address, flush=True)
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()

"""Ray nodes on this computer, in a process of their own: ``python -m players.fleet.ray_nodes COUNT OWNER``.

Ray ends a process that loses its cluster; a server must not end with it. The process is nobody's child: a
server ends children that it does not know. It watches the process that wanted the nodes, and ends with it,
however that ends; all that Ray has started ends then, too.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from gdl.errors import GdlError
from players.fleet.ray_access import close_doors, installed
from players.processes.descendants import Orphans

END_SECONDS = 20.0
GRACE_SECONDS = 5.0
"""How long Ray may take to end by itself."""


@contextmanager
def ray_nodes(count: int) -> Iterator[str]:
    """So many nodes while this is open; gives their address. The token is in this process's environment.
    Raises GdlError where Ray is not installed, or the nodes do not start."""
    installed()
    close_doors(own=True)
    command = [sys.executable, "-m", "players.fleet.ray_nodes", str(count), str(os.getpid())]
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
    """Start nodes, say where they are, and end them when the other side hangs up or is gone."""
    if os.fork():
        os._exit(0)
    below = Orphans()
    below.adopt()
    standing, over, down = threading.Event(), threading.Event(), threading.Event()

    def guard() -> None:
        _wait_for_end(int(sys.argv[2]))
        over.set()
        if standing.is_set():
            down.wait(GRACE_SECONDS)
        while below.end_all():  # those that they have started are left to this process then
            time.sleep(0.01)
        os._exit(0)

    threading.Thread(target=guard, daemon=True, name="guard").start()
    from players.fleet.ray_fleet import local_cluster

    cluster = local_cluster(int(sys.argv[1]))
    standing.set()
    with suppress(BrokenPipeError):
        print(os.getpid(), cluster.address, flush=True)
    over.wait()
    cluster.shutdown()
    down.set()
    threading.Event().wait()  # for the guard


def _wait_for_end(owner: int) -> None:
    """Wait until standard input is closed, or the owner is gone: a process that it has forked may have the
    other end of the pipe, too."""
    poll = select.poll()
    poll.register(0, select.POLLHUP)
    if sys.platform == "linux":
        try:
            poll.register(os.pidfd_open(owner), select.POLLIN)
        except ProcessLookupError:
            return
        except OSError:  # an old kernel
            pass
    poll.poll()


if __name__ == "__main__":
    main()

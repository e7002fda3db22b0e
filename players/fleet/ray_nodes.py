"""Whether Ray is here, who may use its clusters, and nodes of Ray on this computer.

Those who have the token may use a cluster, though it is open by default. Ray has had tokens since 2.52:
``RAY_AUTH_MODE=token``, and the token in ``RAY_AUTH_TOKEN``, in the file ``RAY_AUTH_TOKEN_PATH``, or in
``~/.ray/auth_token``.

Nodes here are a process of their own: ``python -m players.fleet.ray_nodes COUNT OWNER``. Ray ends a process
that loses its cluster; a server must not end with it. The process is nobody's child: a server ends children
that it does not know. It watches the process that wanted the nodes, and ends with it, however that ends; all
that Ray has started ends then, too.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from players.processes.lifeline import Orphans
from players.processes.limits import cores as usable

LOCAL_RAY = re.compile(r"local-ray:([1-9]\d{0,2})")
"""The address of a cluster that is to be started on this computer."""


def installed() -> None:
    """Raises GdlError where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise GdlError("--cluster needs Ray, 2.52 or later", remedy="pip install 'kaskade-ggp[cluster]'")


def close_doors(own: bool) -> None:
    """Have Ray ask for a token; call it before Ray is imported. ``own``: the cluster is started by us, with a
    token of its own that nobody else knows. Raises GdlError where the token of a cluster is not given."""
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if _given():
        return
    if not own:
        raise GdlError(
            "the token of the cluster is not given",
            remedy="set RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH to a file with it",
        )
    os.environ["RAY_AUTH_TOKEN"] = _own_token()


@cache
def _own_token() -> str:
    """The token of clusters that this process starts. It is one and the same for all: Ray reads the token
    once in a process."""
    return secrets.token_hex(32)


def _given() -> bool:
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return True
    return (Path.home() / ".ray" / "auth_token").is_file()


LOOPBACK = "127.0.0.2"
"""Ray's driver takes 127.0.0.1 for the computer's address in its network, and finds no node there."""
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


def local_cluster(nodes: int) -> Any:
    """Nodes on this computer, which divide its cores: each has at least one."""
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = own_path()  # the nodes' processes run what runs here
    each = max(1, usable() // nodes)
    cluster = Cluster()
    for _ in range(nodes):
        cluster.add_node(
            num_cpus=each, node_ip_address=LOOPBACK, include_dashboard=False, object_store_memory=100 << 20
        )
    return cluster


def own_path() -> str:
    """Where this process finds modules, for those that Ray starts."""
    return os.pathsep.join(filter(None, sys.path))


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

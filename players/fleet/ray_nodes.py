"""Ray's presence, the tokens of its clusters, and nodes of Ray on this computer.

Only those who have the token may use a cluster, although Ray's clusters are open by default. Ray has had
tokens since 2.52: ``RAY_AUTH_MODE=token``, and the token in ``RAY_AUTH_TOKEN``, in the file
``RAY_AUTH_TOKEN_PATH``, or in ``~/.ray/auth_token``.

Nodes here are a process of their own: ``python -m players.fleet.ray_nodes COUNT OWNER``. Ray ends a process
that loses its cluster; a server must not end with it. It watches the process that asked for the nodes. When
that process ends, in whatever way, this one ends, too, with all processes that Ray has started.
"""

from __future__ import annotations

import ctypes
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
from players.processes.lifeline import children
from players.processes.limits import cores as usable

LOCAL_RAY = re.compile(r"local-ray:([1-9]\d{0,2})")
"""The address of a cluster to be started on this computer."""


def installed() -> None:
    """Raises GdlError if Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise GdlError("--cluster needs Ray, 2.52 or later", remedy="pip install 'kaskade-ggp[cluster]'")


def close_doors(own: bool) -> None:
    """Make Ray require a token; call it before Ray is imported. ``own``: this program starts the cluster,
    with a secret token of its own. Raises GdlError if the token of a cluster is missing."""
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
    """The token of the clusters that this process starts. All of them share one, because Ray reads the token
    only once per process."""
    return secrets.token_hex(32)


def _given() -> bool:
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return True
    return (Path.home() / ".ray" / "auth_token").is_file()


_PR_SET_CHILD_SUBREAPER = 36
LOOPBACK = "127.0.0.2"
"""Ray's driver assumes that 127.0.0.1 is the computer's address in its network, and finds no node there."""
END_SECONDS = 20.0
GRACE_SECONDS = 5.0
"""Seconds in which Ray may end by itself."""


@contextmanager
def ray_nodes(count: int) -> Iterator[str]:
    """The address of ``count`` nodes that run inside the block. The token is in this process's environment.
    Raises GdlError if Ray is not installed, or the nodes do not start."""
    installed()
    close_doors(own=True)
    command = [sys.executable, "-m", "players.fleet.ray_nodes", str(count), str(os.getpid())]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        if not (address := process.stdout.readline().strip()):
            raise GdlError("the nodes of Ray do not start", remedy="its own messages stand above")
        yield address
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


def local_cluster(nodes: int) -> Any:
    """Nodes on this computer, which divide its cores: each has at least one."""
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = own_path()  # the nodes' processes run the same code as this one
    each = max(1, usable() // nodes)
    cluster = Cluster()
    for _ in range(nodes):
        cluster.add_node(
            num_cpus=each, node_ip_address=LOOPBACK, include_dashboard=False, object_store_memory=100 << 20
        )
    return cluster


def own_path() -> str:
    """The module path of this process, for the processes that Ray starts."""
    return os.pathsep.join(filter(None, sys.path))


def main() -> None:
    """Start nodes, print their address, and end them when the other side closes the pipe or is gone."""
    # The processes that Ray's processes have started are adopted by this one when those end.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    standing, over, down = threading.Event(), threading.Event(), threading.Event()

    def guard() -> None:
        _wait_for_end(int(sys.argv[2]))
        over.set()
        if standing.is_set():
            down.wait(GRACE_SECONDS)
        while below := children(os.getpid()):
            for pid in below:
                with suppress(ProcessLookupError, ChildProcessError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)
        os._exit(0)

    threading.Thread(target=guard, daemon=True, name="guard").start()
    cluster = local_cluster(int(sys.argv[1]))
    standing.set()
    with suppress(BrokenPipeError):
        print(cluster.address, flush=True)
    over.wait()
    cluster.shutdown()
    down.set()
    threading.Event().wait()  # for the guard


def _wait_for_end(owner: int) -> None:
    """Wait until standard input is closed, or the owner is gone. The pipe alone is not enough: a process that
    the owner has forked may hold its other end, too."""
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

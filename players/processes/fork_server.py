"""The fork server. Its arguments are REQUESTS, SOCKET, WARM-UP and those of WARM-UP.

It imports, compiles and loads everything that the other processes of a player need, by calling
``module:function`` WARM-UP with the arguments. Then it forks children that run the requested modules
(:mod:`players.processes.launch`) and are warm at once. It has a single thread, because it forks.

REQUESTS and SOCKET are the two ends of the socket for requests; its children inherit SOCKET. It ends when its
standard input ends. It writes one JSON object per line to its standard output: ``ready``, ``pid`` and
``owner`` of each child, ``gone`` when a child has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from importlib import import_module
from typing import Any, NoReturn

from players.processes import launch, lifeline
from players.processes.limits import describe

THIS = "players.processes.fork_server"

_PR_SET_NAME = 15


def main() -> None:
    """Warm up, and serve until the server is gone."""
    requests, client = int(sys.argv[1]), int(sys.argv[2])
    launch.use(socket.socket(fileno=client))
    began = time.monotonic()
    module, _, function = sys.argv[3].partition(":")
    # Output of libraries must not mix with the messages.
    out = os.dup(1)
    os.dup2(2, 1)
    try:
        getattr(import_module(module), function)(*sys.argv[4:])
    except Exception as error:  # it occurs in the matches too, and is reported there
        print(f"no warm-up: {describe(error)}", file=sys.stderr, flush=True)
    launch.warm = True
    _name_process("fork_server")
    gc.collect()
    gc.freeze()  # the collector must not touch shared pages
    _tell(out, {"ready": round(time.monotonic() - began, 3)})
    _Loop(socket.socket(fileno=requests), client, out).run()


class _Loop:
    """The requests and children."""

    def __init__(self, requests: socket.socket, client: int, out: int) -> None:
        self._requests = requests
        self._client = client
        self._out = out
        self._children: dict[int, tuple[int, socket.socket]] = {}
        """Pidfd of a child -> its process id, and the socket of the process that asked for it."""

    def run(self) -> NoReturn:
        """Serve requests until the server is gone."""
        while True:
            poll = select.poll()
            for number in (0, self._requests.fileno(), *self._children):
                poll.register(number, select.POLLIN)
            for number, _ in poll.poll():
                if number == 0:
                    if not os.read(0, 1024):
                        os._exit(0)
                elif number in self._children:
                    self._ended(number)
                else:
                    self._take()

    def _ended(self, handle: int) -> None:
        pid, asker = self._children.pop(handle)
        os.close(handle)
        _, status = os.waitpid(pid, 0)
        _tell(self._out, {"gone": pid})
        with contextlib.suppress(OSError):
            asker.send(str(os.waitstatus_to_exitcode(status)).encode(), socket.MSG_DONTWAIT)
        asker.close()

    def _take(self) -> None:
        """Take a request."""
        packet, files, _, _ = socket.recv_fds(self._requests, launch.MAX_REQUEST, launch.MOST_FILES)
        if not packet:
            os._exit(0)
        if not files:  # this process has reached its limit of open files
            return
        asker = socket.socket(fileno=files.pop(0))
        try:
            job = json.loads(packet)
            if len(files) <= len(job["files"]) or _is_gone(asker):
                asker.close()
                return
            self._fork(job, files, asker)
        finally:
            for number in files:
                os.close(number)

    def _fork(self, job: dict[str, Any], files: list[int], asker: socket.socket) -> None:
        try:
            pid = os.fork()
        except OSError:
            asker.close()
            return
        if pid == 0:
            try:
                asker.close()
                for handle, (_, child_asker) in self._children.items():
                    os.close(handle)
                    child_asker.close()
                self._children.clear()
                if job["session"]:
                    os.setsid()
                lifeline.take(files.pop(0))
                _become(job, files, self._client)
            except BaseException as error:
                print(f"{job['module']} ends: {describe(error)}", file=sys.stderr, flush=True)
                os._exit(1)
        try:
            self._children[os.pidfd_open(pid)] = pid, asker
        except OSError:  # no more descriptors: it could not be reaped later
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            asker.close()
            return
        _tell(self._out, {"pid": pid, "owner": job["owner"]})
        try:
            asker.send(str(pid).encode(), socket.MSG_DONTWAIT)
        except OSError:  # the asker could not wait
            os.kill(pid, signal.SIGKILL)


def _become(job: dict[str, Any], files: list[int], client: int) -> NoReturn:
    """Run the requested module in this new process, and end."""
    # Away from the descriptor numbers that they will get.
    taken = {0, 1, 2, client, *job["files"]}
    copies = [lifeline.free_copy(number, taken) for number in files]
    _close_all_but({2, client, lifeline.move(taken), *copies})
    for number in (0, 1):
        if number not in job["files"]:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    for number, target in zip(copies, job["files"], strict=True):
        os.dup2(number, target)
        os.close(number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _name_process(job["module"].rpartition(".")[2])
    sys.argv = [job["module"], *job["arguments"]]
    status = 1
    try:
        import_module(job["module"]).main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        status = -signal.SIGINT % 256
    except BaseException as error:
        print(f"{job['module']} ends: {describe(error)}", file=sys.stderr, flush=True)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(status)


def _close_all_but(wanted: set[int]) -> None:
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in wanted:
            with contextlib.suppress(OSError):  # the descriptor that has listed them
                os.close(int(name))


def _name_process(name: str) -> None:
    """Give the process this name in ``ps`` and ``top``."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_NAME, f"ggp-{name}"[:15].encode(), 0, 0, 0)


def _is_gone(asker: socket.socket) -> bool:
    poll = select.poll()
    poll.register(asker, select.POLLHUP)
    return bool(poll.poll(0))


def _tell(out: int, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        os.write(out, json.dumps(message).encode() + b"\n")

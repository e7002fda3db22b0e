"""A server in a thread of the test process, and raw bytes to send it. What tests of processes share."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from ggp.protocol import messages
from ggp.protocol.dialect import request_bytes
from ggp.server.server import Server
from ggp.server.settings import MatchSettings, ServerConfig
from players.processes.lifeline import resident_bytes
from tests.places import ROOT
from tests.waiting import until

T = TypeVar("T")

MARKS = """
(role Robot) (role other)
(init (step 1))
(<= (legal Robot (Mark 1 1)) (not (true (step 3))))
(<= (legal Robot (Mark 2 2)) (not (true (step 3))))
(<= (legal Robot noop) (true (step 3)))
(legal other pass)
(<= (legal other wait) (true (step 2)))
(<= (next (marked ?x ?y)) (does Robot (Mark ?x ?y)))
(<= (next (marked ?x ?y)) (true (marked ?x ?y)))
(succ 1 2) (succ 2 3) (succ 3 4)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 4)))
(<= (goal Robot 100) (true (marked 1 1)))
(<= (goal Robot 0) (not (true (marked 1 1))))
(goal other 50)
"""
"""A game of three turns: the same joint move is legal twice, as in the recorded match."""


def start(
    match: str = "m1", role: str = "Robot", startclock: int = 20, playclock: int = 20, rules: str = MARKS
) -> str:
    """A START of these rules."""
    return messages.start_request(match, role, messages.spaced(rules), startclock, playclock)


START = start()


class LiveServer:
    """A :class:`Server` on a free port of 127.0.0.1."""

    def __init__(self, **config: Any) -> None:
        settings = MatchSettings(
            player=config.pop("player", "legal"),
            machine=config.pop("machine", "prover"),
            margin=config.pop("margin", 0.8),
        )
        self.server = Server(ServerConfig(**{"name": "kaskade", "port": 0, "settings": settings, **config}))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.do(self.server.open())
        self.port = self.server.port

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def close(self) -> None:
        self.do(self.server.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def say(self, message: str) -> str:
        """Send a message as managers do; the reply's body."""
        return body_of(self.raw(request_bytes(message, "localhost", "foreign")))

    def begun(self, *terms: Any, **more: Any) -> LiveServer:
        """The same, once it has begun a match on these terms."""
        assert self.say(start(*terms, **more)) == "ready"
        return self

    def warm(self) -> None:
        """Wait until a match process is ready to take a match."""
        assert self.say(f"( PREVIEW ({MARKS}) 30 )") == "ready"

    def raw(self, data: bytes, half_close: bool = False, wait: float = 30.0) -> bytes:
        """Send bytes on a connection of their own; all bytes of the reply."""
        return talk(self.port, data, half_close, wait)


Serve = Callable[..., LiveServer]


def talk(port: int, data: bytes, half_close: bool = False, wait: float = 30.0) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        with contextlib.suppress(OSError):  # it has answered before it has read everything
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        reply = bytearray()
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                reply += chunk
        return bytes(reply)


def command(pid: int) -> str:
    """The command line of a process; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""


def body_of(reply: bytes) -> str:
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 "), reply[:100]
    length = re.search(rb"Content-length: (\d+)", head)
    assert length is not None
    assert int(length.group(1)) == len(body)
    return body.decode()


class ServeProcess:
    """``ggp serve`` as people run it, with its log; ``files``: how many it may have open."""

    def __init__(self, *options: str, files: int | None = None) -> None:
        limit = [] if files is None else ["sh", "-c", f'ulimit -n {files}; exec "$0" "$@"']
        self.process = subprocess.Popen(
            [*limit, sys.executable, "-m", "ggp", "serve", "--port", "0", *options],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        listening = re.compile(r'event(?:=|": ")listening.*port(?:=|": )(\d+)')
        until(lambda: self.process.poll() is not None or bool(listening.search("".join(self.log))))
        told = listening.search("".join(self.log))
        assert told is not None, "".join(self.log)
        self.port = int(told.group(1))

    def __enter__(self) -> ServeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def said(self) -> str:
        """The log so far, all of it once it is closed."""
        return "".join(self.log)

    def _read(self) -> None:
        for line in self.process.stderr:
            self.log.append(line)

    def memory_mb(self) -> float:
        """Resident memory of the server process."""
        return resident_bytes([self.process.pid]) / 2**20

    def close(self) -> str:
        """SIGTERM, and the whole log."""
        self.process.terminate()
        self.process.wait(20)
        self._reader.join(20)
        # To close what a thread still reads would wait for ever.
        assert not self._reader.is_alive(), "a process that it has started still holds its standard error"
        self.process.stderr.close()
        return self.said

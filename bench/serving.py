"""A ``ggp serve`` process to be measured, and raw messages to it. No script: others use it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class ServerProcess:
    """A server on a free port, with its log.

    Args:
        options: of ``ggp serve``.
        checkout: whose program it runs.
        show: print the log on stderr as well.
        cores: processors that it and its processes may use; empty for all.
    """

    def __init__(
        self, *options: str, checkout: Path = ROOT, show: bool = False, cores: tuple[int, ...] = ()
    ) -> None:
        command = [sys.executable, "-m", "ggp", "serve", "--port", "0", "--log-level", "info", *options]
        before = os.sched_getaffinity(0)
        if cores:
            # Inherited: the server counts its processors as soon as it starts.
            os.sched_setaffinity(0, cores)
        # In a session of its own, as a service has it: sessions share the processors.
        self._process = subprocess.Popen(
            command,
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        os.sched_setaffinity(0, before)
        self._show = show
        self.pid = self._process.pid
        self.log: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        if not self.wait_for("event=listening", 60.0):
            raise SystemExit("the server did not start:\n" + "".join(self.log))
        port = re.search(r"event=listening .*port=(\d+)", "".join(self.log))
        assert port is not None
        self.port = int(port.group(1))

    def _read(self) -> None:
        for line in self._process.stderr or ():
            self.log.append(line)
            if self._show:
                print(line, end="", file=sys.stderr)

    def wait_for(self, text: str, seconds: float) -> bool:
        """Wait until a line of the log has this text; return whether one has."""
        end = time.monotonic() + seconds
        while not (there := any(text in line for line in self.log)):
            if time.monotonic() > end or self._process.poll() is not None:
                break
            time.sleep(0.02)
        return there

    @property
    def tracebacks(self) -> int:
        """How many the log has."""
        return sum("Traceback" in line for line in self.log)

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> int:
        """End the server; its exit status."""
        self._process.terminate()
        return self._process.wait(60)


def post(body: bytes, length: int | None = None) -> bytes:
    """A request as game managers send it; ``length`` is the Content-Length if it is to be wrong."""
    size = len(body) if length is None else length
    return b"POST / HTTP/1.0\r\nContent-Type: text/acl\r\nContent-Length: %d\r\n\r\n%s" % (size, body)


def send(port: int, data: bytes, half_close: bool = False, wait: float = 30.0) -> bytes:
    """All bytes that come back on a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        reply = bytearray()
        try:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered before it has read everything
        try:
            while chunk := connection.recv(65536):
                reply += chunk
        except ConnectionResetError:
            pass
        return bytes(reply)


def say(port: int, message: str) -> str:
    """Send a message as game managers do; the body of the reply."""
    return send(port, post(message.encode())).partition(b"\r\n\r\n")[2].decode()

"""What an attack is: a name, and a function that tries it and says whether the server held."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from players.processes.lifeline import descendants, resident_bytes

ROOT = Path(__file__).resolve().parents[2]
LONGEST_REPLY = 16 * 1024 * 1024


@dataclass
class Verdict:
    """What came of an attack: ``faults`` are what should not have happened, ``figures`` what was seen."""

    figures: str = ""
    faults: list[str] = field(default_factory=list)

    def expect(self, good: bool, otherwise: str) -> None:
        """Note a fault unless something is as it should be."""
        if not good:
            self.faults.append(otherwise)


@dataclass(frozen=True)
class Attack:
    """``run`` is given how many requests it may send, and the seed of its randomness."""

    name: str
    run: Callable[[int, int], Verdict]


class Victim:
    """A server that is attacked: ``ggp web`` in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: IO[str]) -> None:
        self.process, self.port, self._log = process, port, log
        self._token = ""

    @property
    def token(self) -> str:
        """A page's token."""
        if not self._token:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/rules", timeout=60) as reply:
                self._token = re.findall('name="token" content="([^"]+)"', reply.read().decode())[0]
        return self._token

    def log(self) -> str:
        """What it has said on stderr so far."""
        self._log.seek(0)
        return self._log.read()

    def children(self) -> int:
        """How many processes it has besides its own."""
        return len(descendants(self.process.pid))

    def resident(self) -> int:
        """Bytes of its own process."""
        return resident_bytes([self.process.pid])

    def talk(self, data: bytes, half_close: bool = False, seconds: float = 60.0) -> bytes:
        """Send bytes on a connection of their own; what comes back until it is closed, or the beginning of a
        stream. Raises TimeoutError where nothing comes for so long."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            with suppress(ConnectionError):  # it may have answered before it has read everything
                connection.sendall(data)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            reply = bytearray()
            with suppress(ConnectionResetError):
                while chunk := connection.recv(1 << 16):
                    reply += chunk
                    head = bytes(reply.partition(b"\r\n\r\n")[0]).lower()
                    if b"text/event-stream" in head or len(reply) > LONGEST_REPLY:
                        break
            return bytes(reply)

    def get(self, path: str, seconds: float = 60.0) -> int:
        """The status of a page; 0 where there is no reply."""
        with suppress(OSError):
            return status_of(self.talk(get_request(path), seconds=seconds))
        return 0

    def post(
        self, path: str, body: bytes, headers: Sequence[str] | None = None, seconds: float = 120.0
    ) -> bytes:
        """The whole reply to a POST, as a page's unless other headers are given."""
        lines = [f"X-Ggp-Token: {self.token}"] if headers is None else headers
        length = f"Content-Length: {len(body)}"
        return self.talk(http_request("POST", path, "localhost", *lines, length) + body, seconds=seconds)


def http_request(method: str, path: str, host: str, *headers: str) -> bytes:
    """The head of a request with these further headers."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def get_request(path: str) -> bytes:
    """The request of a GET."""
    return http_request("GET", path, "localhost")


def status_of(reply: bytes) -> int:
    """The HTTP status of a reply; 0 where it is none."""
    found = re.match(rb"HTTP/\d\.\d (\d{3})", reply)
    return int(found[1]) if found else 0


@contextmanager
def timed(ask: Callable[[], int], pause: float = 0.1) -> Iterator[list[tuple[int, float]]]:
    """Asks again and again meanwhile: statuses and seconds."""
    answers: list[tuple[int, float]] = []
    over = threading.Event()

    def run() -> None:
        while not over.wait(pause):
            began = time.monotonic()
            status = ask()
            answers.append((status, time.monotonic() - began))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield answers
    finally:
        over.set()
        thread.join()


@contextmanager
def victim(*words: str) -> Iterator[Victim]:
    """``ggp web``, with these words of its command line. Raises RuntimeError if it does not end by itself."""
    command = [sys.executable, "-m", "ggp", *words, "--port", "0"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            yield Victim(process, int(line.partition("://")[2].partition("/")[0].rpartition(":")[2]), log)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        if process.returncode:
            raise RuntimeError(f"{' '.join(words)}: exit status {process.returncode}")

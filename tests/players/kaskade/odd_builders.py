"""What builders of a kaskade can do: go wrong in every way, or as they are told. They run in processes
of their own, so they import nothing of the project."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator


# --- good ones ------------------------------------------------------------------------------------
def deliver(text: str, previous: bytes) -> Iterator[bytes]:
    yield b"product of " + text.encode()


def add(text: str, previous: bytes) -> Iterator[bytes]:
    yield previous + b" and more"


def deliver_thrice(text: str, previous: bytes) -> Iterator[bytes]:
    yield b"some"
    yield b""
    yield b"all" * 100_000


def when_told(text: str, previous: bytes) -> Iterator[bytes]:
    """Waits for the file that the last line of the rules names in a comment."""
    gate = text.rsplit(";", 1)[1].strip()
    while not os.path.exists(gate):
        time.sleep(0.01)
    yield b"late"


# --- bad ones --------------------------------------------------------------------------------------
def lie(text: str, previous: bytes) -> Iterator[bytes]:
    yield b"liar"


def be_unloadable(text: str, previous: bytes) -> Iterator[bytes]:
    yield b"unloadable"


def deliver_nothing(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()


def fail(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()
    raise ZeroDivisionError("this stage is broken")


def kill_itself(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()
    os.kill(os.getpid(), signal.SIGKILL)


def stop_itself(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()
    os.kill(os.getpid(), signal.SIGSTOP)


def leave(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()
    print("goodbye", file=sys.stderr, flush=True)
    os._exit(3)


def sleep(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()
    time.sleep(3600)


def sleep_with_a_child(text: str, previous: bytes) -> Iterator[bytes]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    yield str(child.pid).encode()
    time.sleep(3600)


def work_forever(text: str, previous: bytes) -> Iterator[bytes]:
    yield from ()
    while True:
        pass


def take_memory(text: str, previous: bytes) -> Iterator[bytes]:
    memory = []
    while True:
        memory.append(bytearray(50_000_000))
        yield from ()


def take_file_space(text: str, previous: bytes) -> Iterator[bytes]:
    while True:
        yield bytes(50_000_000)


def _say(line: bytes) -> None:
    """Write past the builder's own messages."""
    os.write(int(sys.argv[1]), line)


def talk_nonsense(text: str, previous: bytes) -> Iterator[bytes]:
    _say(b"\x00\xff nonsense\n")
    yield b"product"


def talk_json_nonsense(text: str, previous: bytes) -> Iterator[bytes]:
    _say(b'[1, {"at": 2}]\n')
    yield b"product"


def talk_without_end(text: str, previous: bytes) -> Iterator[bytes]:
    _say(b"x" * 200_000)
    yield b"product"


def announce_too_much(text: str, previous: bytes) -> Iterator[bytes]:
    _say(b'{"do": "product"}\n')
    time.sleep(3600)
    yield b"product"

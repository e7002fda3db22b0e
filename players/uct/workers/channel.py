"""The channel between a player and its search processes: messages, and statistics of the root.

Messages are pickled tuples over a socket: both ends are our own program. A message from the player may bring
one open file.

Statistics lie in shared memory, without locks. The memory has no name, so it vanishes when all processes that
have it open are gone. Two copies of the statistics are written in turn: one is whole at any time, even if the
writer was stopped or killed while writing the other. The number of writes says which copy is whole.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import struct
import time
from typing import Any

import numpy as np

from players.processes.temporary import nameless
from players.uct.root_statistics import RootStatistics

_LENGTH = struct.Struct("<I")


class Messages:
    """One end of a pair of stream sockets that carry messages both ways."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._received = b""
        self._files: list[int] = []

    def send(self, message: tuple[Any, ...], file: int | None = None) -> None:
        """Send a message, with a copy of an open file's descriptor. Raises OSError if the other end is gone,
        or (if this end does not block) cannot take it now."""
        data = pickle.dumps(message)
        packet = _LENGTH.pack(len(data)) + data
        if file is None:
            self.connection.sendall(packet)
        else:
            sent = socket.send_fds(self.connection, [packet], [file])
            self.connection.sendall(packet[sent:])

    def receive(self) -> tuple[Any, ...] | None:
        """The next message, with a file's descriptor as its last field; None at the end. Raises
        BlockingIOError if there is no message yet and this end does not block."""
        while True:
            if len(self._received) >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._received)
                end = _LENGTH.size + length
                if len(self._received) >= end:
                    message: tuple[Any, ...] = pickle.loads(self._received[_LENGTH.size : end])
                    self._received = self._received[end:]
                    return (*message, self._files.pop(0)) if message[0] == "machine" else message
            data, files, _, _ = socket.recv_fds(self.connection, 1 << 16, 4)
            self._files += files
            if not data:
                return None
            self._received += data

    def close(self) -> None:
        """Close this end."""
        self.connection.close()
        for file in self._files:
            os.close(file)
        self._files = []


MOVES = 1 << 14
"""The most moves of all roles in one state whose statistics fit; larger states are not written."""
ROLES = 64
"""The most roles, likewise."""

_TRIES = 10
_COPY = np.dtype(
    [
        ("root", np.int64),
        ("playouts", np.int64),
        ("nodes", np.int64),
        ("depth", np.int64),
        ("value", np.int64),
        ("mixed", np.int64),
        ("roles", np.int64),
        ("counts", np.int64, ROLES),
        ("visits", np.int64, MOVES),
        ("totals", np.float64, MOVES),
        ("proven", np.int64, MOVES),
    ]
)
_SLOT = np.dtype(
    [
        ("writings", np.int64),  # number of writes; 0 for none yet
        ("pulse", np.int64),  # time of the writer's last sign of life, in ns
        ("task", np.int64),  # time when it began its latest task
        ("copies", _COPY, 2),
    ]
)


def new_memory() -> int:
    """A file descriptor of memory for one slot."""
    descriptor = nameless()
    os.ftruncate(descriptor, _SLOT.itemsize)
    return descriptor


class Slot:
    """A view of such memory. One process writes, any number may read."""

    def __init__(self, descriptor: int) -> None:
        slot = np.frombuffer(mmap.mmap(descriptor, _SLOT.itemsize), _SLOT)
        self._writings, self._pulse, self._task = slot["writings"], slot["pulse"], slot["task"]
        self._copies = slot["copies"][0]

    def pulse(self) -> None:
        """Note that the writer's process is alive."""
        self._pulse[0] = time.monotonic_ns()

    def task(self) -> None:
        """Note that the writer goes on to its next task."""
        self._task[0] = time.monotonic_ns()

    @property
    def last_pulse(self) -> float:
        """Time of the last pulse; time.monotonic() seconds, 0 for never."""
        return float(self._pulse[0]) / 1e9

    @property
    def last_task(self) -> float:
        """Time when the last task began, likewise."""
        return float(self._task[0]) / 1e9

    @property
    def used(self) -> bool:
        """Whether anything was ever written."""
        return bool(self._writings[0])

    def write(self, root: int, statistics: RootStatistics) -> None:
        """Write the statistics of root number ``root``."""
        number = int(self._writings[0]) + 1
        copy = self._copies[number & 1]
        if len(statistics.visits) > MOVES or len(statistics.counts) > ROLES:
            statistics = RootStatistics.empty([0])
        moves = len(statistics.visits)
        copy["root"] = root
        for name in ("playouts", "nodes", "depth", "value", "mixed"):
            copy[name] = getattr(statistics, name)
        copy["roles"] = len(statistics.counts)
        copy["counts"][: len(statistics.counts)] = statistics.counts
        for name in ("visits", "totals", "proven"):
            copy[name][:moves] = getattr(statistics, name)
        self._writings[0] = number

    def read(self, root: int) -> RootStatistics | None:
        """The statistics last written, if they are about this root."""
        for _ in range(_TRIES):
            number = int(self._writings[0])
            copy = self._copies[number & 1]
            counts = tuple(copy["counts"][: int(copy["roles"])].tolist())
            if not number or copy["root"] != root:
                return None
            moves = sum(counts)
            statistics = RootStatistics(
                counts,
                copy["visits"][:moves].copy(),
                copy["totals"][:moves].copy(),
                copy["proven"][:moves].astype(np.int16),
                playouts=int(copy["playouts"]),
                nodes=int(copy["nodes"]),
                depth=int(copy["depth"]),
                value=int(copy["value"]),
                mixed=bool(copy["mixed"]),
            )
            if int(self._writings[0]) == number:
                return statistics
        return None

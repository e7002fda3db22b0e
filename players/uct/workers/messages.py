"""Messages between a player and its search processes: pickled tuples over a socket.

Both ends are our own program. A message from the player may bring one open file.
"""

from __future__ import annotations

import os
import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("<I")


class Messages:
    """One end of a pair of stream sockets, by which messages go both ways."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._received = b""
        self._files: list[int] = []

    def send(self, message: tuple[Any, ...], file: int | None = None) -> None:
        """Send a message, with a copy of an open file's descriptor. Raises OSError if the other end is gone,
        or (where this end does not block) takes nothing."""
        data = pickle.dumps(message)
        packet = _LENGTH.pack(len(data)) + data
        if file is None:
            self.connection.sendall(packet)
        else:
            sent = socket.send_fds(self.connection, [packet], [file])
            self.connection.sendall(packet[sent:])

    def receive(self) -> tuple[Any, ...] | None:
        """The next message, a file's descriptor as its last field; None where there is no more. Raises
        BlockingIOError if there is none yet, where this end does not block."""
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

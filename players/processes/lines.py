"""Messages between processes: lines of JSON over a socket, and files that come with them.

What is too large for a line lies in files without a name, in memory if the system supports that. They vanish
with the processes that use them.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

JsonMessage = dict[str, Any]
_MOST_BYTES = 16 * 1024 * 1024
"""The longest message."""


class Lines:
    """One end of a pair of stream sockets that carry messages both ways."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._received = bytearray()
        self._seen = 0
        self._files: list[int] = []

    def send(self, do: str, file: int | None = None, **fields: object) -> None:
        """Send a message, with a copy of an open file's descriptor. Raises OSError if the other end is gone,
        or (if this end does not block) cannot take it now."""
        line = json.dumps({**fields, "do": do}).encode() + b"\n"
        if file is not None:
            line = line[socket.send_fds(self.connection, [line], [file]) :]
        self.connection.sendall(line)

    def receive(self) -> JsonMessage | None:
        """The next message; None at the end. Raises BlockingIOError if there is no message yet and this end
        does not block, TimeoutError after the timeout of the socket, ValueError for a line that is not
        JSON."""
        while (end := self._received.find(b"\n", self._seen)) < 0:
            self._seen = len(self._received)
            data, files, _, _ = socket.recv_fds(self.connection, 1 << 16, 4)
            self._files += files
            if not data:
                return None
            self._received += data
            if len(self._received) > _MOST_BYTES:
                raise ValueError("a message has no end")
        message: JsonMessage = json.loads(self._received[:end])
        del self._received[: end + 1]
        self._seen = 0
        return message

    def send_bytes(self, do: str, data: bytes, **fields: object) -> None:
        """Send a message with a file of these bytes. Raises OSError as :meth:`send`."""
        file = shared_bytes(data)
        try:
            self.send(do, file, **fields)
        finally:
            os.close(file)

    def file(self) -> int:
        """The descriptor that came with the message received last; the caller closes it. Raises IndexError if
        there is none."""
        return self._files.pop(0)

    def file_bytes(self, most: int = sys.maxsize) -> bytes:
        """The bytes of that file. Raises ValueError if it has more than ``most``."""
        with os.fdopen(self.file(), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                raise ValueError("it takes more memory than it may")
            file.seek(0)
            return file.read(size)

    def __iter__(self) -> Iterator[JsonMessage]:
        """The messages up to the end."""
        while (message := self.receive()) is not None:
            yield message

    def close(self) -> None:
        """Close this end."""
        self.connection.close()
        for file in self._files:
            os.close(file)
        self._files = []


def nameless() -> int:
    """A descriptor of a new file without a name. Raises OSError if there are no more descriptors."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("kaskade")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def shared_bytes(data: bytes) -> int:
    """A descriptor of a nameless file with these bytes, positioned at their end. Raises OSError if there is
    not enough space."""
    descriptor = nameless()
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor

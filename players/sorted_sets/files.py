"""Files of blocks, and counters of the memory and disk that a search uses against its limits.

Files are written and read in sequence; each block has a recorded length and CRC-32. The CRC is checked
whenever a block is read from its file: that costs less than decoding it. Errors of memory and scratch files
become errors with a remedy.
"""

from __future__ import annotations

import errno
import os
import threading
import time
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gdl.errors import GdlError
from gdl.reading import open_regular

_FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG


class OutOfRoomError(GdlError):
    """The memory or the disk allowed for the search is full."""


class ScratchError(GdlError):
    """A scratch directory cannot be used: it is not ours, in use, damaged, or of another game."""


def as_size(size: int) -> str:
    """Return a number of bytes for users: ``500M``."""
    for unit, scale in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.3g}{unit}" if size < 1000 * scale else f"{size / scale:.0f}{unit}"
    return f"{size} bytes"


@contextmanager
def os_errors(path: Path, doing: str) -> Iterator[None]:
    """Turn errors of the operating system into ours. ``doing`` is the attempted action, such as ``write``."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise OutOfRoomError(
                f"cannot {doing} {path}: {error.strerror}",
                remedy="make room on that disk, then give the same command; or name another --scratch DIR",
            ) from None
        raise ScratchError(f"cannot {doing} {path}: {error.strerror or error}") from None


_FLUSHED = 8 << 20
"""After this many bytes the kernel is advised that the file will not be read soon."""


class FileBlocks:
    """The blocks of a file, one after the other, in 12 bytes each: there may be hundreds of thousands.

    Attributes:
        ends: the end of each block, in bytes from the start of the file.
        checks: the CRC-32 of each block.
    """

    def __init__(self) -> None:
        self.ends = array("q")
        self.checks = array("I")

    def append(self, length: int, check: int) -> None:
        """Append a block: its length in bytes, and the CRC-32 of its content."""
        self.ends.append((self.ends[-1] if self.ends else 0) + length)
        self.checks.append(check)

    def span(self, number: int) -> tuple[int, int]:
        """Return the offset and length of a block, in bytes."""
        offset = self.ends[number - 1] if number else 0
        return offset, self.ends[number] - offset


class FileWriter:
    """Writes blocks one after the other to a new file.

    Raises OutOfRoomError if the disk is full, and ScratchError for other errors. Earlier blocks stay.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blocks = FileBlocks()
        self.size = 0
        self._advised = 0
        with os_errors(path, "create"):
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def append(self, data: bytes) -> None:
        """Write one block."""
        view = memoryview(data)
        at = self.size
        with os_errors(self.path, "write"):
            while view:
                view = view[os.pwrite(self._file, view, at) :]
                at = self.size + len(data) - len(view)
        self.blocks.append(len(data), zlib.crc32(data))
        self.size = at
        if self.size - self._advised >= _FLUSHED:
            _forget(self._file, self.size)
            self._advised = self.size

    def close(self) -> None:
        """Close the file, unless that has begun: Ctrl-C may interrupt it."""
        file, self._file = self._file, -1
        if file < 0:
            return
        with os_errors(self.path, "write"):
            try:
                _forget(file, self.size)
            finally:
                os.close(file)


def write_file(path: Path, blocks: Iterable[bytes]) -> FileBlocks:
    """Write a new file. It is removed again if it cannot be finished."""
    writer = FileWriter(path)
    try:
        for data in blocks:
            writer.append(data)
        writer.close()
    except BaseException:
        writer.close()
        remove(path)
        raise
    return writer.blocks


def read_block(path: Path, blocks: FileBlocks, number: int) -> bytes:
    """Return one block after checking its CRC; the kernel is advised to fetch the next one. Raises
    ScratchError if the file is damaged."""
    at, length = blocks.span(number)
    left = length
    parts: list[bytes] = []
    with os_errors(path, "read"), open_regular(path) as opened:
        file = opened.fileno()
        while left and (part := os.pread(file, left, at)):
            parts.append(part)
            at, left = at + len(part), left - len(part)
        if number + 1 < len(blocks.ends):
            os.posix_fadvise(file, *blocks.span(number + 1), os.POSIX_FADV_WILLNEED)
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    if len(data) != length or zlib.crc32(data) != blocks.checks[number]:
        raise damaged(path, f"block {number} of it is not what was written")
    return data


def damaged(path: Path, why: str = "it is not what was written") -> ScratchError:
    """Return the error for a file whose content is not the data written."""
    return ScratchError(
        f"{path} is damaged: {why}",
        remedy="the search cannot be resumed: remove the directory and start again",
    )


def remove(path: Path) -> None:
    """Remove a file if it exists."""
    with os_errors(path, "remove"):
        path.unlink(missing_ok=True)


def _forget(file: int, size: int) -> None:
    """Let the kernel write a file's pages and reuse them: they do not count as our memory."""
    os.posix_fadvise(file, 0, size, os.POSIX_FADV_DONTNEED)


class StorageRoom:
    """Counts bytes of memory and disk; any thread may call it.

    Arguments: memory: the most bytes of blocks in memory. disk: the most bytes of files; None for any number.

    Attributes:
        used_memory, used_disk: bytes in use.
        seconds: CPU seconds that all threads spent on writing and reading files.
        waited: the wall time of the same work: much longer if the disk is slow or the computer is busy.
        written, read: bytes written to and read from files.
    """

    def __init__(self, memory: int, disk: int | None) -> None:
        self.memory, self.disk = memory, disk
        self.used_memory = self.used_disk = 0
        self.seconds = self.waited = 0.0
        self.written = self.read = 0
        self._lock = threading.Lock()

    def take_memory(self, size: int) -> bool:
        """Count memory before it is used. Returns False if too little is left."""
        with self._lock:
            if self.used_memory + size > self.memory:
                return False
            self.used_memory += size
            return True

    def give_memory(self, size: int) -> None:
        """Count memory that is free again."""
        with self._lock:
            self.used_memory -= size

    def take_disk(self, size: int) -> None:
        """Count bytes before they are written. Raises OutOfRoomError."""
        with self._lock:
            if self.disk is not None and self.used_disk + size > self.disk:
                raise OutOfRoomError(
                    f"the search needs more than the {as_size(self.disk)} of disk that it may use",
                    remedy="allow more with --disk: the same command goes on from the last whole layer",
                )
            self.used_disk += size

    def give_disk(self, size: int) -> None:
        """Count bytes of files that were removed."""
        with self._lock:
            self.used_disk -= size

    def count_file(self, size: int) -> None:
        """Count a file that already exists."""
        with self._lock:
            self.used_disk += size

    @contextmanager
    def at_work(self, written: int = 0, read: int = 0) -> Iterator[None]:
        """Count work on files: its time, and the bytes if it succeeds."""
        cpu, clock = time.thread_time(), time.perf_counter()
        yield
        cpu, clock = time.thread_time() - cpu, time.perf_counter() - clock
        with self._lock:
            self.seconds += cpu
            self.waited += clock
            self.written += written
            self.read += read

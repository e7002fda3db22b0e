"""What a search uses of memory and disk, counted against what it may use."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from players.puzzles.frontier.storage.errors import OutOfRoomError, as_size


class StorageRoom:
    """Counts bytes; any thread may call it.

    Arguments:
        memory: bytes of blocks that may be in memory.
        disk: bytes that files may have; None for any number.

    Attributes:
        used_memory, used_disk: bytes in use.
        seconds: CPU seconds that all threads spent on writing and reading files.
        waited: the same by the clock: much longer where the disk is slow, or the computer busy.
        written, read: bytes of files.
    """

    def __init__(self, memory: int, disk: int | None) -> None:
        self.memory, self.disk = memory, disk
        self.used_memory = self.used_disk = 0
        self.seconds = self.waited = 0.0
        self.written = self.read = 0
        self._lock = threading.Lock()

    def take_memory(self, size: int) -> bool:
        """Count memory that is about to be used, unless there is too little left: False."""
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
        """Count bytes that are about to be written. Raises OutOfRoomError."""
        with self._lock:
            if self.disk is not None and self.used_disk + size > self.disk:
                raise OutOfRoomError(
                    f"the search needs more than the {as_size(self.disk)} of disk that it may use",
                    remedy="allow more with --disk; with --resume DIR it goes on from the last whole layer",
                )
            self.used_disk += size

    def give_disk(self, size: int) -> None:
        """Count bytes of files that are gone."""
        with self._lock:
            self.used_disk -= size

    def count_file(self, size: int) -> None:
        """Count a file that is there already."""
        with self._lock:
            self.used_disk += size

    @contextmanager
    def at_work(self, written: int = 0, read: int = 0) -> Iterator[None]:
        """Count work on files: what is done inside, and the bytes if it succeeds."""
        cpu, clock = time.thread_time(), time.perf_counter()
        yield
        cpu, clock = time.thread_time() - cpu, time.perf_counter() - clock
        with self._lock:
            self.seconds += cpu
            self.waited += clock
            self.written += written
            self.read += read

"""Blobs: blocks of bytes that are written once, in memory or in a file of their own."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from players.puzzles.frontier.storage.files import FileBlock, FileWriter, read_block

if TYPE_CHECKING:
    from players.puzzles.frontier.storage.store import BlobStore

_OVERHEAD = 64
"""Bytes that a block in memory takes besides its content."""


class Blob:
    """Blocks of bytes that were written once.

    Attributes:
        name: tells it from the other blobs of its store.
        cold: whether it is needed rarely.
        sizes: the length of each block, in bytes.
        total: of all blocks, in bytes.
        parts: the blocks, where they are in memory.
        path, blocks: the file, where there is one, and what is known of its blocks. It may be both.
        lasting: whether the file is on the disk, and not only on its way.
    """

    def __init__(self, store: BlobStore, name: str, cold: bool, sizes: Sequence[int]) -> None:
        self.name = name
        self.cold = cold
        self.sizes: Sequence[int] = array("q", sizes)
        self.total = sum(sizes)
        self.parts: list[bytes] | None = None
        self.path: Path | None = None
        self.blocks: Sequence[FileBlock] = ()
        self.lasting = False
        self._store = store

    @property
    def memory(self) -> int:
        """What its blocks take in memory, in bytes, when they are there."""
        return self.total + _OVERHEAD * len(self.sizes)

    def read(self, number: int) -> bytes:
        """A block. Any thread may read, also while the blob is moved to a file. Raises ScratchError where the
        file is damaged."""
        parts = self.parts
        if parts is not None:
            return parts[number]
        if self.path is None:
            raise ValueError(f"the blob {self.name} was dropped")
        with self._store.room.at_work(read=self.sizes[number]):
            return read_block(self.path, self.blocks, number)

    def drop(self) -> None:
        """It is needed no more. Its file goes at once, or at the next commit if the last one named it."""
        self._store.drop(self)

    def as_json(self) -> dict[str, Any]:
        """What a manifest says of it."""
        assert self.path is not None
        return {
            "name": self.name,
            "cold": self.cold,
            "file": self.path.name,
            "sizes": list(self.sizes),
            "checks": [block.check for block in self.blocks],
        }


class BlobWriter:
    """Collects the blocks of one blob: in memory while there is room, else in a file. One thread appends."""

    def __init__(self, store: BlobStore, name: str, cold: bool) -> None:
        self.name = name
        self._store, self._cold = store, cold
        self._parts: list[bytes] = []
        self._sizes = array("q")
        self._file: FileWriter | None = None
        self._open = True

    def append(self, data: bytes) -> int:
        """Add a block and return its number. Raises OutOfRoomError."""
        assert self._open
        if self._file is None and (
            (self._cold and self._store.on_disk) or not self._store.take_memory(len(data) + _OVERHEAD)
        ):
            self._move_out()
        if self._file is None:
            self._parts.append(data)
        else:
            self._write(self._file, data)
        self._sizes.append(len(data))
        return len(self._sizes) - 1

    def close(self) -> Blob:
        """The finished blob."""
        assert self._open
        blob = Blob(self._store, self.name, self._cold, self._sizes)
        if self._file is None:
            blob.parts = self._parts
        else:
            self._file.close()
            blob.path, blob.blocks = self._file.path, self._file.blocks
        self._open = False
        self._store.finished(self, blob)
        return blob

    def abandon(self) -> None:
        """Forget what was appended."""
        if not self._open:
            return
        self._open = False
        if self._file is not None:
            try:
                self._file.close()
            finally:
                self._store.remove_file(self._file.path, self._file.size)
        self._store.room.give_memory(_in_memory(self._parts))
        self._store.finished(self, None)

    def _move_out(self) -> None:
        """Go on in a file: the memory is full, or meant for others."""
        self._file = FileWriter(self._store.new_path(self.name))
        for part in self._parts:
            self._write(self._file, part)
        self._store.room.give_memory(_in_memory(self._parts))
        self._parts = []

    def _write(self, file: FileWriter, data: bytes) -> None:
        room = self._store.room
        room.take_disk(len(data))
        try:
            with room.at_work(written=len(data)):
                file.append(data)
        except BaseException:
            room.give_disk(len(data))
            raise


def _in_memory(parts: list[bytes]) -> int:
    return sum(map(len, parts)) + _OVERHEAD * len(parts)

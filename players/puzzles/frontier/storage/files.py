"""Files of blocks, written and read in sequence; each block's length and CRC-32 are known.

The CRC is compared whenever a block is read from its file: it costs less than decoding does.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from gdl.reading import open_regular
from players.puzzles.frontier.storage.errors import ScratchError, told

_FLUSHED = 8 << 20
"""After so many bytes the kernel is told that the file will not be read soon."""


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A block of a file: offset and length in bytes, CRC-32 of its content."""

    offset: int
    length: int
    check: int


class FileBlocks(Sequence[FileBlock]):
    """The blocks of a file, one behind the other, in 12 bytes each: there may be hundreds of thousands."""

    def __init__(self) -> None:
        self._ends = array("q")
        self._checks = array("I")

    def append(self, length: int, check: int) -> None:
        """A block follows: its length in bytes, the CRC-32 of its content."""
        self._ends.append((self._ends[-1] if self._ends else 0) + length)
        self._checks.append(check)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, number: int) -> FileBlock: ...

    @overload
    def __getitem__(self, number: slice) -> list[FileBlock]: ...

    def __getitem__(self, number: int | slice) -> FileBlock | list[FileBlock]:
        if isinstance(number, slice):
            return [self[at] for at in range(*number.indices(len(self)))]
        at = range(len(self))[number]
        offset = self._ends[at - 1] if at else 0
        return FileBlock(offset, self._ends[at] - offset, self._checks[at])


class FileWriter:
    """Writes blocks one after the other to a new file.

    Raises OutOfRoomError where the disk is full, ScratchError where it cannot be written for other reasons;
    the blocks before stay.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blocks = FileBlocks()
        self.size = 0
        self._advised = 0
        with told(path, "create"):
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def append(self, data: bytes) -> None:
        """Write one block."""
        view = memoryview(data)
        at = self.size
        with told(self.path, "write"):
            while view:
                view = view[os.pwrite(self._file, view, at) :]
                at = self.size + len(data) - len(view)
        self.blocks.append(len(data), zlib.crc32(data))
        self.size = at
        if self.size - self._advised >= _FLUSHED:
            _forget(self._file, self.size)
            self._advised = self.size

    def close(self) -> None:
        """Close the file, if that has not begun: Ctrl-C may come in the middle of it."""
        file, self._file = self._file, -1
        if file < 0:
            return
        with told(self.path, "write"):
            try:
                _forget(file, self.size)
            finally:
                os.close(file)


def write_file(path: Path, blocks: Iterable[bytes]) -> FileBlocks:
    """Write a new file; removed again where it cannot be finished."""
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


def read_block(path: Path, blocks: Sequence[FileBlock], number: int) -> bytes:
    """One block, compared with its CRC; the kernel is told to fetch the next. Raises ScratchError where the
    file is damaged."""
    block = blocks[number]
    parts: list[bytes] = []
    with told(path, "read"), open_regular(path) as opened:
        file = opened.fileno()
        at, left = block.offset, block.length
        while left and (part := os.pread(file, left, at)):
            parts.append(part)
            at, left = at + len(part), left - len(part)
        if number + 1 < len(blocks):
            following = blocks[number + 1]
            os.posix_fadvise(file, following.offset, following.length, os.POSIX_FADV_WILLNEED)
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    if len(data) != block.length or zlib.crc32(data) != block.check:
        raise damaged(path, f"block {number} of it is not what was written")
    return data


def damaged(path: Path, why: str = "it is not what was written") -> ScratchError:
    """The error for a file that is not what was written."""
    return ScratchError(
        f"{path} is damaged: {why}",
        remedy="the search cannot go on from there: remove the directory and start anew",
    )


def make_lasting(path: Path) -> None:
    """What was written to a file, or the names in a directory, are on the disk after this."""
    with told(path, "write"):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with told(path, "remove"):
        path.unlink(missing_ok=True)


def _forget(file: int, size: int) -> None:
    """Let the kernel write a file's pages, and use them for something else: they are not our memory."""
    os.posix_fadvise(file, 0, size, os.POSIX_FADV_DONTNEED)

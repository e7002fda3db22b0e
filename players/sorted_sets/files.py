"""The files of a search: blocks with checks, counters of memory and disk, and the directory that holds them.

Files are written and read in sequence; each block has a recorded length and CRC-32. The CRC is checked
whenever a block is read from its file: that costs less than decoding it. Errors of memory and scratch files
become errors with a remedy.

One process owns a scratch directory, and a manifest lists its complete files. The manifest is replaced
atomically (:mod:`gdl.writing`), so a killed process leaves either the old one or the new one. Files that it
does not name are leftovers, removed when the directory is opened.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import threading
import time
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gdl import writing
from gdl.errors import GdlError
from gdl.json_schema import FLAG, check_json, matching, record, rows, whole
from gdl.reading import open_regular, read_limited
from gdl.writing import NEW, digest_of, replace_file, unsealed

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
    """

    def __init__(self, memory: int, disk: int | None) -> None:
        self.memory, self.disk = memory, disk
        self.used_memory = self.used_disk = 0
        self.seconds = 0.0
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
    def at_work(self) -> Iterator[None]:
        """Count the time of work on files."""
        began = time.thread_time()
        yield
        with self._lock:
            self.seconds += time.thread_time() - began


LOCK, MANIFEST = "ggp-frontier.lock", "manifest.json"
SUFFIX = ".blob"
FORMAT = "ggp frontier search"
VERSION = 3
_MOST_MANIFEST = 1 << 30
NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
"""The names of blobs: file names without a folder."""
_BLOB = record(
    name=matching(NAME),
    cold=FLAG,
    file=matching(NAME + re.escape(SUFFIX)),
    sizes=rows(whole(0, 1 << 30)),
    checks=rows(whole(0, (1 << 32) - 1)),
)
_BODY = record(rules=matching("[0-9a-f]{32}"), serial=whole(), state={"type": "object"}, blobs=rows(_BLOB))


class ScratchDirectory:
    """A directory that belongs to this object until :meth:`close`.

    Arguments: path: the directory; created if missing. rules: the text of the rules that the search is for.

    Raises:
        ScratchError: another process works there; the files are not ours, damaged, or of other rules.

    Attributes:
        manifest: the body of the last commit's manifest; None in a new directory.
    """

    def __init__(self, path: Path, rules: str) -> None:
        self.path = path
        self._rules = digest_of(rules.encode())
        with os_errors(path, "use"):
            path.mkdir(parents=True, exist_ok=True)
            present = {entry.name for entry in os.scandir(path)}
        if LOCK not in present and present:
            raise ScratchError(
                f"{path} is not a scratch directory of a search",
                remedy="name an empty or a new directory, or one that a search began in",
            )
        self._lock = _take(path / LOCK)
        try:
            self.manifest = self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> dict[str, Any] | None:
        """Return the body of the manifest, and remove files that it does not name."""
        body = read_manifest(self.path) if has_commit(self.path) else None
        if body is not None and body["rules"] != self._rules:
            raise ScratchError(
                f"the search in {self.path} is of other rules",
                remedy="give the game that it began with, or name another directory",
            )
        named = {blob["file"] for blob in body["blobs"] if blob["file"]} if body else set()
        for entry in os.scandir(self.path):
            if entry.name.startswith(NEW) or (entry.name.endswith(SUFFIX) and entry.name not in named):
                remove(self.path / entry.name)
        return body

    def commit(self, body: dict[str, Any]) -> None:
        """Replace the manifest. ``body`` is JSON, with a list ``blobs`` of objects that name a ``file``."""
        with os_errors(self.path / MANIFEST, "write"):
            replace_file(self.path / MANIFEST, sealed({**body, "rules": self._rules}))

    def clear(self) -> None:
        """Remove all files of a search; other files stay."""
        remove(self.path / MANIFEST)
        for entry in os.scandir(self.path):
            if entry.name.startswith(NEW) or entry.name.endswith(SUFFIX):
                remove(self.path / entry.name)

    def close(self) -> None:
        """Release the directory for others."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sealed(body: dict[str, Any]) -> bytes:
    """Return the text of a manifest with this body."""
    return writing.sealed(body, format=FORMAT, version=VERSION)


def read_manifest(path: Path) -> dict[str, Any]:
    """The body of a directory's manifest. Raises ScratchError if it is damaged or of another version."""
    file = path / MANIFEST
    try:
        head, body = unsealed(read_limited(file, _MOST_MANIFEST))
        kind, version = head["format"], head["version"]
    except (ValueError, KeyError):
        raise damaged(file) from None
    if kind != FORMAT or version != VERSION:
        raise ScratchError(
            f"{file} has version {version} of the format, this program reads {VERSION}",
            remedy="remove the directory and start again",
        )
    try:
        check_json(body, _BODY, "body")
        assert isinstance(body, dict)
        for name in ("name", "file"):
            if len({blob[name] for blob in body["blobs"]}) < len(body["blobs"]):
                raise GdlError("two blobs have one name")
        if any(len(blob["sizes"]) != len(blob["checks"]) for blob in body["blobs"]):
            raise GdlError("a blob has not as many checks as blocks")
    except GdlError as error:
        raise damaged(file, error.message) from None
    return body


def has_commit(path: Path) -> bool:
    """Return whether a directory has a search to resume."""
    return (path / MANIFEST).exists()


def _take(path: Path) -> int:
    """Lock a file until it is closed; its content is the process's number. Returns the open file."""
    with os_errors(path, "lock"):
        # O_NOFOLLOW: through a link, another file would be emptied.
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(file, 0)
            os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            owner = os.pread(file, 32, 0).decode(errors="replace").strip()
            os.close(file)
            raise ScratchError(
                f"process {owner or 'of another search'} works in {path.parent}",
                remedy="wait for it, or name another directory",
            ) from None
        except BaseException:
            os.close(file)
            raise
    return file

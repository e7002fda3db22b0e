"""A store of blobs within a budget: in memory while they fit, otherwise in files; and the data that survive a
kill.

Blobs are blocks of bytes that are written once. A commit makes a set of blobs durable, together with the
search's own state. Until the next commit their files stay, even the files of dropped blobs: a killed search
resumes from the last commit.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from gdl.writing import make_lasting
from players.sorted_sets.files import (
    NAME,
    SUFFIX,
    FileBlocks,
    FileWriter,
    OutOfRoomError,
    ScratchDirectory,
    ScratchError,
    StorageRoom,
    as_size,
    damaged,
    os_errors,
    read_block,
    remove,
    write_file,
)

_OVERHEAD = 64
"""Bytes that a block in memory takes in addition to its content."""


class Blob:
    """Blocks of bytes that were written once.

    Attributes:
        name: its unique name in the store.
        cold: whether it is needed rarely.
        sizes: the length of each block, in bytes.
        total: the length of all blocks, in bytes.
        parts: the blocks, if they are in memory.
        path, blocks: the file, if there is one, and the record of its blocks. A blob may be both in memory
            and in a file.
        lasting: whether the file is safely on the disk.
    """

    def __init__(self, store: BlobStore, name: str, cold: bool, sizes: Sequence[int]) -> None:
        self.name = name
        self.cold = cold
        self.sizes: Sequence[int] = array("q", sizes)
        self.total = sum(sizes)
        self.parts: list[bytes] | None = None
        self.path: Path | None = None
        self.blocks = FileBlocks()
        self.lasting = False
        self._store = store

    @property
    def memory(self) -> int:
        """The bytes that its blocks take in memory."""
        return self.total + _OVERHEAD * len(self.sizes)

    def read(self, number: int) -> bytes:
        """Return a block. Any thread may read, even while the blob is moved to a file. Raises ScratchError if
        the file is damaged."""
        parts = self.parts
        if parts is not None:
            return parts[number]
        if self.path is None:
            raise ValueError(f"the blob {self.name} was dropped")
        with self._store.room.at_work():
            return read_block(self.path, self.blocks, number)

    def drop(self) -> None:
        """Drop the blob. Its file goes at once, or at the next commit if the last one named it."""
        self._store.drop(self)

    def as_json(self) -> dict[str, Any]:
        """Return its entry in a manifest."""
        assert self.path is not None
        return {
            "name": self.name,
            "cold": self.cold,
            "file": self.path.name,
            "sizes": list(self.sizes),
            "checks": self.blocks.checks.tolist(),
        }


class BlobWriter:
    """Collects the blocks of one blob: in memory while they fit, otherwise in a file. Only one thread
    appends."""

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
        """Return the finished blob."""
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
        """Discard the blocks appended."""
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
        """Continue in a file: the memory is full, or reserved for others."""
        self._file = FileWriter(self._store.new_path(self.name))
        for part in self._parts:
            self._write(self._file, part)
        self._store.room.give_memory(_in_memory(self._parts))
        self._parts = []

    def _write(self, file: FileWriter, data: bytes) -> None:
        room = self._store.room
        room.take_disk(len(data))
        try:
            with room.at_work():
                file.append(data)
        except BaseException:
            room.give_disk(len(data))
            raise


def _in_memory(parts: list[bytes]) -> int:
    return sum(map(len, parts)) + _OVERHEAD * len(parts)


_NAME = re.compile(NAME)


class BlobStore:
    """Blobs within a budget of memory and disk.

    Arguments: memory: bytes of blocks in memory. scratch: a directory for files: new, empty, or one that a
        search began in, whose last commit then restores :attr:`state` and :attr:`blobs`. With None everything
        is in memory. disk: the most bytes of files; None for as many as fit. rules: text of the rules that
        the search is for.

    Raises:
        ScratchError: the directory cannot be used (see :class:`ScratchDirectory`), or the length of a file
            has changed.

    Attributes:
        state: the state of the last commit; empty before the first.
        room: the bytes used and allowed.
    """

    def __init__(
        self,
        memory: int,
        scratch: Path | None = None,
        disk: int | None = None,
        rules: str = "",
    ) -> None:
        self.room = StorageRoom(memory, disk)
        self.state: dict[str, Any] = {}
        self._blobs: dict[str, Blob] = {}
        self._writers: set[BlobWriter] = set()
        self._lock = threading.Lock()
        """Held while tables change."""
        self._moves = threading.RLock()
        """Held while blobs move to files; taken before the other lock."""
        self._serial = 0
        self._committed: set[Path] = set()
        """The files that the last commit named."""
        self._leaving: dict[Path, int] = {}
        """The files among them whose blobs were dropped, and their sizes."""
        self._directory = None if scratch is None else ScratchDirectory(scratch, rules)
        if self._directory is not None and self._directory.manifest is not None:
            try:
                self._restore(self._directory.path, self._directory.manifest)
            except BaseException:
                self._directory.close()
                raise

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Turn errors from an invalid state of the last commit into a ScratchError, and close."""
        try:
            yield
        except (GdlError, ValueError) as error:
            self.close()
            what = error.message if isinstance(error, GdlError) else str(error)
            folder = "memory" if self._directory is None else self._directory.path
            raise ScratchError(
                f"the checkpoint in {folder} cannot be gone on with: {what}",
                remedy="remove the directory and start again",
            ) from None

    @property
    def on_disk(self) -> bool:
        """Whether it may use files."""
        return self._directory is not None

    @property
    def blobs(self) -> dict[str, Blob]:
        """The finished blobs by name."""
        with self._lock:
            return dict(self._blobs)

    def writer(self, name: str, cold: bool = False) -> BlobWriter:
        """Begin a blob. Names consist of letters, digits, ``_``, ``.`` and ``-``. A ``cold`` blob is rarely
        needed and goes to a file at once, if files are allowed."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot name a blob")
        with self._lock:
            if name in self._blobs or any(writer.name == name for writer in self._writers):
                raise ValueError(f"there is a blob {name!r}")
            writer = BlobWriter(self, name, cold)
            self._writers.add(writer)
            return writer

    def spill(self, memory: int | None = None) -> int:
        """Move blobs out of memory until at most ``memory`` bytes (the budget if None) are used: cold ones
        first, then those that are in files too, then the largest. Returns the number of bytes freed, 0 if no
        files are allowed. Raises OutOfRoomError."""
        before = self.room.used_memory
        bound = self.room.memory if memory is None else memory
        with self._moves:
            held = [blob for blob in self.blobs.values() if blob.parts is not None]
            for blob in sorted(held, key=lambda blob: (not blob.cold, blob.path is None, -blob.total)):
                if self.room.used_memory <= bound or self._directory is None:
                    break
                self._to_file(blob)
                blob.parts = None
                self.room.give_memory(blob.memory)
        return before - self.room.used_memory

    def commit(self, state: dict[str, Any], keep: Iterable[Blob]) -> None:
        """Make blobs durable, together with a state that describes them (JSON; keys are strings). Without a
        scratch directory nothing happens. Blobs in memory are written to files, and also stay in memory while
        they fit. Raises OutOfRoomError or ScratchError; the last commit then remains valid."""
        if self._directory is None:
            return
        with self._moves:
            blobs = list(keep)
            for blob in blobs:
                if self._blobs.get(blob.name) is not blob:
                    raise ValueError(f"the blob {blob.name} was dropped")
                self._to_file(blob)
                if blob.path is not None and not blob.lasting:
                    with self.room.at_work(), os_errors(blob.path, "write"):
                        make_lasting(blob.path)
                    blob.lasting = True
            rows = [blob.as_json() for blob in blobs]
            named = {blob.path for blob in blobs if blob.path is not None}
            # Before the manifest names the files: Ctrl-C may come right after that, and close() spares these
            # files.
            self._committed |= named
            self._directory.commit({"serial": self._serial, "state": state, "blobs": rows})
            self.state, self._committed = state, named
            for path in [path for path in self._leaving if path not in self._committed]:
                self.remove_file(path, self._leaving.pop(path))

    def close(self) -> None:
        """Free the memory, remove the files that the last commit did not name, and release the directory."""
        try:
            for writer in list(self._writers):
                writer.abandon()
            for blob in self.blobs.values():
                self.drop(blob)
        finally:
            if self._directory is not None:
                self._directory.close()

    def erase(self) -> None:
        """Close, and also remove the committed files: the search is over."""
        if self._directory is not None:
            self._directory.clear()
            self._committed = set()
            while self._leaving:
                self.remove_file(*self._leaving.popitem())
        self.close()

    def drop(self, blob: Blob) -> None:
        """See :meth:`Blob.drop`."""
        with self._moves:
            with self._lock:
                if self._blobs.get(blob.name) is not blob:
                    return
                del self._blobs[blob.name]
            if blob.parts is not None:
                self.room.give_memory(blob.memory)
            path, blob.parts, blob.path = blob.path, None, None
            if path is not None and path in self._committed:
                self._leaving[path] = blob.total
            elif path is not None:
                self.remove_file(path, blob.total)

    def take_memory(self, size: int) -> bool:
        """Count memory before it is used. Returns False if none is left and a file must be used. Raises
        OutOfRoomError if no files are allowed."""
        if self.room.take_memory(size):
            return True
        if self._directory is None:
            raise OutOfRoomError(
                f"the search needs more than the {as_size(self.room.memory)} of memory it has for states",
                remedy="give it more with --memory, or a directory for files with --scratch DIR",
            )
        with self._moves:
            for blob in self.blobs.values():
                if blob.parts is not None and blob.path is not None:
                    blob.parts = None
                    self.room.give_memory(blob.memory)
                    if self.room.take_memory(size):
                        return True
        return False

    def remove_file(self, path: Path, size: int) -> None:
        """Remove a file and count its bytes as free."""
        remove(path)
        self.room.give_disk(size)

    def new_path(self, name: str) -> Path:
        """Return a name that no file has had before, so that the files of the last commit stay unchanged."""
        assert self._directory is not None
        with self._lock:
            self._serial += 1
            return self._directory.path / f"{name}-{self._serial}{SUFFIX}"

    def finished(self, writer: BlobWriter, blob: Blob | None) -> None:
        """Record that a writer has closed or was abandoned."""
        with self._lock:
            self._writers.discard(writer)
            if blob is not None:
                self._blobs[blob.name] = blob

    def _to_file(self, blob: Blob) -> None:
        """Write a blob that is only in memory to a file as well."""
        if blob.path is not None or blob.parts is None:
            return
        self.room.take_disk(blob.total)
        path = self.new_path(blob.name)
        try:
            with self.room.at_work():
                blob.blocks = write_file(path, blob.parts)
        except BaseException:
            self.room.give_disk(blob.total)
            raise
        blob.path = path

    def _restore(self, folder: Path, body: dict[str, Any]) -> None:
        """Restore the blobs and the state of the last commit."""
        self.state, self._serial = body["state"], body["serial"]
        for row in body["blobs"]:
            blob = Blob(self, row["name"], row["cold"], tuple(row["sizes"]))
            path = folder / row["file"]
            if not path.is_file() or path.stat().st_size != blob.total:
                raise damaged(path, "its length is not what was written")
            blocks = FileBlocks()
            for size, check in zip(row["sizes"], row["checks"], strict=True):
                blocks.append(size, check)
            blob.path, blob.blocks, blob.lasting = path, blocks, True
            self._blobs[blob.name] = blob
            self._committed.add(path)
            self.room.count_file(blob.total)

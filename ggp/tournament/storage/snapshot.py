"""A copy of an SQLite file that others are writing, made without a trace in their folder.

To read a file in write-ahead mode where it lies, SQLite writes into the index beside it, or makes one. So its
pages and its log are copied. The copy is whole where the log's header stays the same meanwhile: a page that
changes while it is copied is in the log, and the log is copied last (https://sqlite.org/walformat.html).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from gdl.errors import FileError, GdlError
from gdl.reading import open_regular

MOST_BYTES = 1024**3
"""Of the file and its log together, where they have to be copied."""
TRIES = 5
_HEADER = 32
"""Bytes of the log's header. Its salts change when the log begins anew."""
_LOG = "-wal"


class LargeSnapshotError(GdlError):
    """A file that is being written is too large to be copied."""


def open_named(path: Path) -> BinaryIO:
    """Open a regular file. Raises GdlError, which names it without its folder, where it cannot be read."""
    try:
        return open_regular(path)
    except FileError as error:
        raise GdlError(error.message.replace(str(path), path.name), remedy=error.remedy) from None


def has_log(path: Path) -> bool:
    """Whether something is in the log beside a file: it is being written, or was when its writer was killed.
    Raises GdlError where the log is no regular file."""
    return bool(_header(path))


def copy_with_log(path: Path) -> tuple[Path, Path]:
    """Copy a file and its log. Returns a new private folder and the copy in it; remove the folder.

    Raises LargeSnapshotError where they are too large, GdlError where they cannot be read or copied, or are
    written too fast.
    """
    folder = Path(tempfile.mkdtemp(prefix="ggp-tournament-"))
    copy = folder / "copy.sqlite"
    try:
        for _ in range(TRIES):
            before = _header(path)
            room = MOST_BYTES - _copy(path, copy, MOST_BYTES)
            _copy(_log_of(path), _log_of(copy), room)
            if before == _header(path):
                return folder, copy
        raise GdlError(f"{path.name} is written faster than it can be read", remedy="try again in a moment")
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise GdlError(f"cannot copy {path.name}: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + _LOG)


def _header(path: Path) -> bytes:
    log = _log_of(path)
    if not os.path.lexists(log):
        return b""
    with open_named(log) as file:
        return file.read(_HEADER)


def _copy(source: Path, target: Path, most: int) -> int:
    """How many bytes were copied."""
    count = 0
    with open_named(source) as file, target.open("wb") as copy:
        while part := file.read(1 << 20):
            count += len(part)
            if count > most:
                raise LargeSnapshotError(
                    f"{source.name} is being written and has more than {MOST_BYTES >> 20} MiB",
                    remedy="look again when its tournament has ended",
                )
            copy.write(part)
    return count

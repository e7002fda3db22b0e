"""Files that people ask for: written beside, then put in place, so that no half of one is left.

What was there before stays where the disk is full or the work is broken off.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gdl.errors import GdlError

_NOT_HERE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""Errors of folders that permit no new file and no replacement, though their files can be written to."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of ``path`` at the end.

    A pipe or device is written to directly, and so is a file in a folder that permits no new file. The
    target of our own output (``/dev/stdout`` sent to a file) is appended to. The target of a link is
    replaced, not the link. Raises GdlError if the path cannot be written.
    """
    try:
        if os.path.exists(path) and (not os.path.isfile(path) or _is_our_output(path)):
            with path.open("ab" if os.path.isfile(path) else "wb") as file:
                yield file
            return
        path = path.resolve()
        # Names have at most 255 bytes, a character up to 4.
        temporary = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}")
        try:
            new = temporary.open("xb")
        except OSError as error:
            if error.errno not in _NOT_HERE or not os.path.exists(path):
                raise
            new = path.open("wb")
        try:
            with new as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(temporary):
                _put_in_place(temporary, path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()
    except OSError as error:
        remedy = "make room, or choose another place" if os.path.exists(path) else "choose another place"
        raise GdlError(f"cannot write {path}: {error.strerror}", remedy=remedy) from None


def _is_our_output(path: Path) -> bool:
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return True
    return False


def _put_in_place(temporary: Path, path: Path) -> None:
    if os.path.exists(path):
        temporary.chmod(path.stat().st_mode & 0o7777)
    try:
        temporary.replace(path)
    except OSError as error:
        # A file that is mounted alone, or another user's in a folder for all, can only be written to.
        if error.errno not in _NOT_HERE or not os.path.exists(path):
            raise
        shutil.copyfile(temporary, path)


def write_file(path: Path, data: bytes) -> None:
    """Write a whole file. Raises GdlError where that fails; what was there before stays."""
    with replacing(path) as file:
        file.write(data)

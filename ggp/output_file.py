"""Files that people ask for: written beside, then put in place, so that no half of one is left.

What was there before stays where the disk is full or the work is broken off.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gdl.errors import GdlError


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of ``path`` at the end.

    What is no file (a pipe, ``/dev/stdout``) is written to as it is; the target of a link is replaced, not
    the link. Raises GdlError where it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        path = path.resolve()
        beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
        try:
            with beside.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                beside.chmod(path.stat().st_mode & 0o7777)
            beside.replace(path)
        finally:
            with contextlib.suppress(OSError):
                beside.unlink()
    except OSError as error:
        remedy = "make room, or choose another place" if path.exists() else "choose another place"
        raise GdlError(f"cannot write {path}: {error.strerror}", remedy=remedy) from None


def write_file(path: Path, data: bytes) -> None:
    """Write a whole file. Raises GdlError where that fails; what was there before stays."""
    with replacing(path) as file:
        file.write(data)

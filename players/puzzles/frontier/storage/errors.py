"""What goes wrong with memory and scratch files, as errors that say what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gdl.errors import GdlError

_FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG


class OutOfRoomError(GdlError):
    """The memory or the disk that the search may use is full."""


class ScratchError(GdlError):
    """A scratch directory cannot be used: it is not ours, in use, damaged, or of another game."""


def as_size(size: int) -> str:
    """A number of bytes for people: ``500M``."""
    for unit, scale in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.3g}{unit}" if size < 1000 * scale else f"{size / scale:.0f}{unit}"
    return f"{size} bytes"


@contextmanager
def told(path: Path, doing: str) -> Iterator[None]:
    """Errors of the operating system become ours. ``doing`` is what was tried: ``write``."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise OutOfRoomError(
                f"cannot {doing} {path}: {error.strerror}",
                remedy="make room on that disk, then go on with --resume DIR; or name another --scratch DIR",
            ) from None
        raise ScratchError(f"cannot {doing} {path}: {error.strerror or error}") from None

"""Files and folders that vanish with the processes that use them.

Files without a name are kept in memory if the system supports that. A `ScratchFolder` whose process was
killed is removed by the next process that creates one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

from propnet.storage.process_lock import ProcessLock


def nameless() -> int:
    """A descriptor of a new file without a name. Raises OSError if there are no more descriptors."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("kaskade")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def bytes_of(descriptor: int) -> bytes:
    """All bytes of a file, whatever its position; closes it."""
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def shared_bytes(data: bytes) -> int:
    """A descriptor of a nameless file with these bytes, positioned at their end. Raises OSError if there is
    not enough space."""
    descriptor = nameless()
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


_LOCK = "lock"
_UNFINISHED = "new-"
"""Prefix of the name of a folder that is not locked yet."""


class ScratchFolder:
    """A new folder for temporary files; it is removed with this object, or when the process ends.

    Attributes:
        path: its path.
    """

    def __init__(self, prefix: str) -> None:
        """Create the folder; its name begins with ``prefix``. Raises OSError if that is not possible."""
        for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(left)
        folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED + prefix))
        lock = ProcessLock(str(folder / _LOCK))
        lock.take(0.0)
        self.path = folder.rename(folder.with_name(folder.name.removeprefix(_UNFINISHED)))
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove it with its contents."""
        self._end()


def _remove(folder: Path, lock: ProcessLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.leave()


def _remove_if_left(folder: Path) -> None:
    """Remove a folder of this user whose creator no longer locks it. Raises OSError."""
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        return
    lock = ProcessLock(str(folder / _LOCK))
    if (folder / _LOCK).exists() and lock.take(0.0) and lock.locked:
        shutil.rmtree(folder, ignore_errors=True)
    lock.leave()

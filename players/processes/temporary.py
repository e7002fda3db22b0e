"""Files and folders of which nothing is left when those who use them are gone.

Files without a name lie in memory where the system can do that. A `ScratchFolder` whose process is killed is
removed by the next process that makes one.
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
    """A file descriptor of a new one. Raises OSError where there are no more."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("kaskade")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def bytes_of(descriptor: int) -> bytes:
    """All that a file holds, wherever it stands; it is closed then."""
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def shared_bytes(data: bytes) -> int:
    """A file descriptor of one that holds these bytes; it stands at their end. Raises OSError where there is
    no room for them."""
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
"""How the name of a folder begins that is not locked yet."""


class ScratchFolder:
    """A new folder among those of temporary files; it is removed with this object, or when the process ends.

    Attributes:
        path: where it is.
    """

    def __init__(self, prefix: str) -> None:
        """Its name begins with ``prefix``. Raises OSError where there can be no folder."""
        for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(left)
        folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED + prefix))
        lock = ProcessLock(str(folder / _LOCK))
        lock.take(0.0)
        self.path = folder.rename(folder.with_name(folder.name.removeprefix(_UNFINISHED)))
        self._end = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove it, with all that is in it."""
        self._end()


def _remove(folder: Path, lock: ProcessLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    lock.leave()


def _remove_if_left(folder: Path) -> None:
    """Remove a folder of this user that its maker has locked no more. Raises OSError."""
    if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
        return
    lock = ProcessLock(str(folder / _LOCK))
    if (folder / _LOCK).exists() and lock.take(0.0) and lock.locked:
        shutil.rmtree(folder, ignore_errors=True)
    lock.leave()

"""`ScratchFolder`: a folder for files that are not to outlive a process.

Where the process is killed, the next one that makes such a folder removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

from propnet.storage.process_lock import ProcessLock

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
        made = Path(tempfile.mkdtemp(prefix=_UNFINISHED + prefix))
        lock = ProcessLock(str(made / _LOCK))
        lock.take(0.0)
        self.path = made.rename(made.with_name(made.name.removeprefix(_UNFINISHED)))
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

"""`ScratchFolder`: a folder for files that are not to outlive a process, even where that is killed: the next
one that makes such a folder removes those whose makers are gone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from propnet.storage.process_lock import ProcessLock

_LOCK = "lock"


class ScratchFolder:
    """A new folder among those of temporary files.

    Attributes:
        path: where it is.
    """

    def __init__(self, prefix: str) -> None:
        """Its name begins with ``prefix``. Raises OSError where there can be no folder."""
        for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            _remove_if_left(left)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = ProcessLock(str(self.path / _LOCK))
        self._lock.take(0.0)

    def remove(self) -> None:
        """Remove it, with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.leave()


def _remove_if_left(folder: Path) -> None:
    """Remove a folder whose maker has locked it no more. One that has no lock is being made."""
    if not (folder / _LOCK).exists():
        return
    lock = ProcessLock(str(folder / _LOCK))
    if lock.take(0.0):
        shutil.rmtree(folder, ignore_errors=True)
        lock.leave()

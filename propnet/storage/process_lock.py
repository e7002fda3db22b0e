"""`ProcessLock`: a file that one process at a time has locked."""

from __future__ import annotations

import os
import time

try:
    import fcntl
except ImportError:  # no such locks on this platform: each process works for itself
    fcntl = None  # type: ignore[assignment]

PATIENCE_SECONDS = 90.0
"""The longest wait for another process, which may be stopped; after that this one does the work too."""
_LOOK_SECONDS = 0.02


class ProcessLock:
    """A lock between processes: a file that is locked (``flock``) until the process leaves it or ends.

    Attributes:
        locked: whether this process holds it and no other one can.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = -1
        self.locked = False

    def take(self, patience: float = PATIENCE_SECONDS) -> bool:
        """Wait for the lock for at most ``patience`` seconds; return whether it was obtained. It is obtained
        at once if this process holds it already, or if locks are not available."""
        if self._file >= 0 or fcntl is None:
            return True
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # a read-only folder: no other process writes there either
            return True
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.locked = True
                return True
            except BlockingIOError:
                if time.monotonic() >= end:
                    self.leave()
                    return False
                time.sleep(_LOOK_SECONDS)
            except OSError:  # a file system without locks
                return True

    def leave(self) -> None:
        """Release the lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file, self.locked = -1, False

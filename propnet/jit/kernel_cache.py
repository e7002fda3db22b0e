"""Compiled kernels on disk, shared by processes: what one of them compiles the others wait for.

numba's own cache keeps what was compiled, but processes that start together all compile the same. Here
the first one to miss a kernel locks a file beside it (``flock``, which goes with the process that holds
it), and the others load the kernel when it is there. Where nothing can be written, what lies there is
still read, and where there is no place at all kernels are compiled anew in each process.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba has no types)

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Any

from numba.core import caching

try:
    import fcntl
except ImportError:  # no such locks on this platform: each process compiles for itself
    fcntl = None  # type: ignore[assignment]

PATIENCE_SECONDS = 90.0
"""How long another process is waited for, which may be stopped; then this one compiles too."""

_LOOK_SECONDS = 0.02


class _Readable:
    """A place that counts if it can be read."""

    get_cache_path: Callable[[], str]

    def ensure_cache_path(self) -> None:
        if not os.path.isdir(self.get_cache_path()):
            raise OSError("there is no such folder")


class _ReadableProvided(_Readable, caching.UserProvidedCacheLocator):
    pass


class _ReadableInTree(_Readable, caching.InTreeCacheLocator):
    pass


class _ReadableUserWide(_Readable, caching.UserWideCacheLocator):
    pass


class _Places(caching.CompileResultCacheImpl):
    """numba's places, and those that can only be read; a folder that was asked for comes first."""

    def __init__(self, function: Callable[..., Any]) -> None:
        first, *others = type(self)._locator_classes
        self._locator_classes = [first, _ReadableProvided, *others, _ReadableInTree, _ReadableUserWide]
        super().__init__(function)


class SharedCache(caching.FunctionCache):
    """The cache of one kernel."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        name = f"{self._impl.filename_base}.lock"
        self._lock = Lock(os.path.join(self._cache_path, name))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept; None if this process is to compile it, and to say so by :meth:`save_overload`."""
        found = self._load(sig, target_context)
        if found is None and self._enabled:
            self._lock.take()
            found = self._load(sig, target_context)
            if found is not None:
                self._lock.leave()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        """What is kept. An index that cannot be read, since it names classes that were moved by an update or
        since its bytes are damaged, is emptied."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self._cache_file.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it, if that is possible, and let the others have it."""
        try:
            with contextlib.suppress(OSError):  # a full or read-only disk: it is compiled again next time
                super().save_overload(sig, data)
        finally:
            self._lock.leave()


def cache_for(function: Callable[..., Any]) -> Any:
    """The cache of a kernel; one that keeps nothing where there is no place for it."""
    try:
        return SharedCache(function)
    except RuntimeError:
        return caching.NullCache()


class Lock:
    """A lock between processes: a file that is locked, for as long as its process lives.

    A process that holds the lock of a kernel may wait for those of kernels that it calls, and for no
    others: they cannot wait for each other in a circle. numba's own lock sees to it that one thread at
    a time compiles.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = -1

    def take(self, patience: float = PATIENCE_SECONDS) -> bool:
        """Wait for the lock, but no longer than that; whether it was had. Where there can be no locks it is
        had at once; what holds it already keeps it."""
        if self._file >= 0 or fcntl is None:
            return True
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # a folder that can only be read: nobody else writes there either
            return True
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= end:
                    self.leave()
                    return False
                time.sleep(_LOOK_SECONDS)
            except OSError:  # a file system without locks
                return True

    def leave(self) -> None:
        """Let another process have it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

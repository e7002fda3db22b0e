"""Compiled kernels on disk, shared by processes: one compiles a kernel, the others wait for it.

With numba's own cache processes that start together all compile the same. Here the first one to miss a
kernel locks a file beside it (``flock``, which ends with the process), and the others load the kernel when
it is there. A folder that cannot be written is still read; without any folder each process compiles anew.
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
"""How long to wait for another process, which may be stopped; then this one compiles too."""

_LOOK_SECONDS = 0.02


class _Readable:
    """A folder that need only be readable."""

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
    """numba's folders, and those that can only be read; a configured folder comes first."""

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
        """The compiled kernel; None if this process is to compile it and then call :meth:`save_overload`."""
        compiled = self._load(sig, target_context)
        if compiled is None and self._enabled:
            self._lock.take()
            compiled = self._load(sig, target_context)
            if compiled is not None:
                self._lock.leave()
        return compiled

    def _load(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, or None. Empties an index that names moved classes or is damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(OSError):
                self._cache_file.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a kernel if possible, and let the others go on."""
        try:
            with contextlib.suppress(OSError):  # a full or read-only disk: it is compiled again next time
                super().save_overload(sig, data)
        finally:
            self._lock.leave()


def cache_for(function: Callable[..., Any]) -> Any:
    """The cache of a kernel; one that stores nothing where there is no folder for it."""
    try:
        return SharedCache(function)
    except RuntimeError:
        return caching.NullCache()


class Lock:
    """A lock between processes: a file that is locked as long as the process lives, or until it leaves.

    A process that holds the lock of a kernel waits only for those of kernels that this one calls, so there
    is no deadlock. numba's own lock lets one thread at a time compile.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = -1

    def take(self, patience: float = PATIENCE_SECONDS) -> bool:
        """Wait for the lock ``patience`` seconds at most; whether it was obtained. It is obtained at once
        where it is held already, and where there can be no locks."""
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
        """Release the lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

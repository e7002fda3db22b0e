"""Compiled kernels on disk, shared by processes: one compiles a kernel, the others wait for it.

With numba's own cache processes that start together all compile the same. Here the first one to miss a
kernel locks a file beside it (``flock``, which ends with the process), and the others load the kernel when
it is there. A folder that cannot be written is still read; without any folder each process compiles anew.
A process that holds the lock of a kernel waits only for those of kernels that this one calls, so there is no
deadlock. numba's own lock lets one thread at a time compile.

numba's own cache also keeps an index beside the data, either of which can be damaged, and trusts any folder.
Here each kernel is a file by :mod:`propnet.private_files`, named by a checksum of all that it depends on.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba has no types)

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching
from numba.core.serialize import dumps

from gdl.errors import MissingFileError
from propnet.jit.kernel_places import kernel_folder
from propnet.private_files import is_trusted, read, write
from propnet.storage.process_lock import ProcessLock

log = logging.getLogger("propnet.kernels")

_MOST_BYTES = 64 << 20
"""Of a file with a kernel."""
_VERSIONS = 16
"""Files of one kernel that are kept: of other sources, processors and releases of numba."""


class _Folder(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """Has numba keep the kernels of a module in the folder for them. Raises OSError if there is none."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        folder = kernel_folder(Path(file))
        if folder is None:
            raise FileNotFoundError(f"no folder for the kernels of {file}")
        self._py_file, self._lineno, self._path = file, function.__code__.co_firstlineno, str(folder)

    def get_cache_path(self) -> str:
        return self._path

    def ensure_cache_path(self) -> None:
        """It has been looked at."""


class _Places(caching.CompileResultCacheImpl):
    """Has numba look in the one folder that :mod:`propnet.jit.kernel_places` finds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._locator_classes = [_Folder]
        super().__init__(function)


class SharedCache(caching.FunctionCache):
    """The cache of one kernel. Raises RuntimeError where there is no folder for it."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._folder = Path(self._cache_path)
        # A folder of numba's own choice ($NUMBA_CACHE_LOCATOR_CLASSES) has not been looked at yet.
        if not is_trusted(self._folder):
            raise RuntimeError(f"others can write to {self._folder}")
        self._lock = ProcessLock(str(self._folder / f"{self._impl.filename_base}.lock"))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel; None if this process is to compile it and then call :meth:`save_overload`."""
        target_context.refresh()
        if not self._enabled:
            return None
        path = self._path(sig, target_context.codegen())
        compiled = self._load(path, sig, target_context)
        if compiled is None:
            self._lock.take()
            compiled = self._load(path, sig, target_context)
            if compiled is not None:
                self._lock.leave()
        return compiled

    def _path(self, sig: Any, codegen: Any) -> Path:
        """The file of the kernel for arguments of these types, on this processor."""
        types, processor, code = self._index_key(sig, codegen)
        source = self._impl.locator.get_source_stamp()
        key = repr((numba.__version__, llvmlite.__version__, source, str(types), processor, code))
        name = hashlib.sha256(key.encode()).hexdigest()[:24]
        return self._folder / f"{self._impl.filename_base}.{name}.nbc"

    def _load(self, path: Path, sig: Any, target_context: Any) -> Any:
        """The compiled kernel, or None: a file that is damaged, or that names what is gone, is replaced."""
        try:
            compiled = self._impl.rebuild(target_context, pickle.loads(read(path, _MOST_BYTES)))
        except MissingFileError:
            return None
        except Exception as error:
            log.info("%s is compiled anew: %s", path.name, error)
            return None
        return compiled if tuple(compiled.signature.args) == tuple(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a kernel if possible, and let the others go on."""
        try:
            if self._enabled and self._impl.check_cachable(data):
                with contextlib.suppress(OSError):  # a full or read-only disk: it is compiled again next time
                    write(self._path(sig, data.codegen), dumps(self._impl.reduce(data)), 0o644)
                    self._make_room()
        finally:
            self._lock.leave()

    def flush(self) -> None:
        """Remove all that is kept of this kernel."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        """What is kept of this kernel, and by numba's own cache before."""
        base = f"{self._impl.filename_base}."
        names = (name for name in os.listdir(self._folder) if name.startswith(base))
        return [self._folder / name for name in names if name.endswith((".nbc", ".nbi"))]

    def _make_room(self) -> None:
        """Remove the oldest files of this kernel."""
        ages: list[tuple[float, Path]] = []
        for path in self._files():
            with contextlib.suppress(OSError):  # another process has removed it
                ages.append((path.stat().st_mtime, path))
        for _, path in sorted(ages)[:-_VERSIONS]:
            path.unlink(missing_ok=True)


def cache_for(function: Callable[..., Any]) -> Any:
    """The cache of a kernel; one that stores nothing where there is no folder for it."""
    cache: caching._Cache = caching.NullCache()
    with contextlib.suppress(RuntimeError, OSError):
        cache = SharedCache(function)
    if (chosen := os.environ.get("NUMBA_CACHE_DIR")) and not str(cache.cache_path).startswith(chosen):
        _tell(chosen)
    return cache


@functools.cache
def _tell(chosen: str) -> None:
    """Say once that the configured folder is not used."""
    log.warning("$NUMBA_CACHE_DIR, %s, is not used: others can write to it, or it is no folder", chosen)

"""`kernel` and `inner`: numba's ``njit`` for functions that Python calls, and for the functions that these
call.

numba's disk cache serves a function as long as the function's own file stays the same, although the code of
other files is compiled into it. But it distinguishes functions that enclose different values. So a kernel
encloses a checksum of its file and of all our files that this one imports.

numba optimises each function by itself, makes machine code of it, and does both again in every function
that calls it. For functions that only kernels call this is useless: they are optimised as part of the kernel.

A quicker comparison of numba's compiler flags: numba looks up overloads by a key that holds its flags, ten
thousand times for a larger kernel. Its own comparison lists all flags with their defaults each time, which
was a sixth of the time to compile.

Compiled kernels on disk, shared by processes: with numba's own cache, processes that start together all
compile the same. Here the first one that misses a kernel locks a file next to it (``flock``, which ends with
the process), and the others load the kernel once it is there. A folder that cannot be written is still read.
Without any folder each process compiles for itself. A process that holds the lock of a kernel waits only for
the locks of kernels that this one calls, so there is no deadlock. numba's own lock lets one thread at a time
compile.

numba's own cache also keeps an index next to the data, either of which can be damaged, and trusts any folder.
Here each kernel is a file by :mod:`propnet.private_files`, named by a checksum of everything on which it
depends.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba has no types)
# mypy: disallow-untyped-calls=False

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

import llvmlite
import numba
from numba import njit
from numba.core import caching, event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.targetconfig import TargetConfig

from gdl.errors import MissingFileError
from propnet.jit.kernel_places import kernel_folder
from propnet.jit.notice import listen
from propnet.private_files import is_trusted, read, write
from propnet.storage.process_lock import ProcessLock

log = logging.getLogger("propnet.kernels")

_MOST_BYTES = 64 << 20
"""The largest file with a kernel that is read."""
_VERSIONS = 16
"""The number of files kept per kernel: for other sources, processors and releases of numba."""


class _Folder(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """Makes numba store the kernels of a module in their folder. Raises OSError if there is none."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        folder = kernel_folder(Path(file))
        if folder is None:
            raise FileNotFoundError(f"no folder for the kernels of {file}")
        self._py_file, self._lineno, self._path = file, function.__code__.co_firstlineno, str(folder)

    def get_cache_path(self) -> str:
        return self._path

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder has been checked."""


class _Places(caching.CompileResultCacheImpl):
    """Makes numba search the one folder that :mod:`propnet.jit.kernel_places` finds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._locator_classes = [_Folder]
        super().__init__(function)


class _SharedCache(caching.FunctionCache):
    """The cache of one kernel. Raises RuntimeError if there is no folder for it."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._folder = Path(self._cache_path)
        # A folder of numba's own choice ($NUMBA_CACHE_LOCATOR_CLASSES) has not been checked yet.
        if not is_trusted(self._folder):
            raise RuntimeError(f"others can write to {self._folder}")
        self._lock = ProcessLock(str(self._folder / f"{self._impl.filename_base}.lock"))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel; None if this process must compile it and then call :meth:`save_overload`.

        Unlike numba's own cache, this does not refresh the context first, which loads all that compiling
        needs and takes longer than most kernels."""
        if not self._enabled:
            return None
        rtsys.initialize(target_context)
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
        """The compiled kernel; None for a damaged file, or one with missing references, which is replaced."""
        try:
            compiled = self._impl.rebuild(target_context, pickle.loads(read(path, _MOST_BYTES)))
        except MissingFileError:
            return None
        except Exception as error:
            log.info("%s must be compiled again: %s", path.name, error)
            return None
        return compiled if tuple(compiled.signature.args) == tuple(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a kernel if possible, and release the lock for other processes."""
        try:
            if self._enabled and self._impl.check_cachable(data):
                with contextlib.suppress(OSError):  # a full or read-only disk: the next process compiles it
                    write(self._path(sig, data.codegen), dumps(self._impl.reduce(data)), 0o644)
                    self._make_room()
        finally:
            self._lock.leave()

    def flush(self) -> None:
        """Remove all files of this kernel."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        """The files of this kernel, including those of numba's own cache."""
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


def _cache_for(function: Callable[..., Any]) -> Any:
    """The cache of a kernel. If there is no folder for it, a cache that stores nothing."""
    cache: caching._Cache = caching.NullCache()
    with contextlib.suppress(RuntimeError, OSError):
        cache = _SharedCache(function)
    if (chosen := os.environ.get("NUMBA_CACHE_DIR")) and not str(cache.cache_path).startswith(chosen):
        _tell(chosen)
    return cache


@functools.cache
def _tell(chosen: str) -> None:
    """Warn once that the configured folder is not used."""
    log.warning("$NUMBA_CACHE_DIR, %s, is not used: others can write to it, or it is not a folder", chosen)


def compare_quickly() -> None:
    """Let numba use this comparison in this process."""
    flags: Any = TargetConfig
    flags.__eq__, flags.__hash__ = _equal, _hash


def _equal(flags: Any, other: object) -> Any:
    """Whether all flags have the same values. A default counts the same whether it was set or left out."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    if type(flags) is not type(other):
        return flags.values() == other.values()
    return flags._values == other._values or _chosen(flags) == _chosen(other)


def _chosen(flags: Any) -> dict[str, Any]:
    options = flags.options
    return {name: value for name, value in flags._values.items() if value != options[name].default}


def _hash(flags: Any) -> int:
    """The same value for all: they differ by the types of the arguments, which are in numba's keys too."""
    return 0


listen(event)
compare_quickly()

F = TypeVar("F", bound=Callable[..., Any])

_IMPORT = re.compile(r"^(?:import ([^\n#]+)|from ([\w.]+) import (\([^)]*\)|[^\n#]+))", re.MULTILINE)
"""The imports of a module: ``import A, B``, or ``from A import B, C`` on one line or in parentheses."""


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``njit(cache=True, **options)`` for functions that Python calls; used with or without options."""
    if function is None:
        return functools.partial(kernel, **options)
    assert isinstance(function, FunctionType)
    code = function.__code__
    if code.co_freevars:
        raise ValueError("a kernel must not enclose values of its own")
    bound = FunctionType(
        code.replace(co_freevars=("sources",)),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        (CellType(checksum(Path(code.co_filename).resolve())),),
    )
    bound.__doc__, bound.__module__ = function.__doc__, function.__module__
    bound.__qualname__, bound.__annotations__ = function.__qualname__, function.__annotations__
    options["no_cfunc_wrapper"] = True
    dispatcher = njit(**options)(bound)
    dispatcher._cache = _cache_for(dispatcher.py_func)
    return dispatcher


def inner(function: F) -> F:
    """``njit`` for functions that only kernels call: without machine code, a wrapper for Python or a cache
    file of its own (the kernel's file holds it), which saves much of the time to compile.

    Pass it single arrays rather than a tuple of many: a call counts a reference to each (see
    docs/measurements.md)."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, njit(pipeline_class=_InnerCompiler, **options)(function))


ARENA: dict[str, Any] = {"nogil": True, "_nrt": False}
"""Options of a :func:`kernel` that creates no arrays of its own. References to its argument arrays are then
not counted; counting them would cost as much as a step of a loop through a tree."""

inlined: Any = njit(inline="always")
"""A function that numba copies into the kernels that call it, before it infers types. It may take many
arrays: a call of an :func:`inner` function would pass each of them (see docs/measurements.md)."""


class _NoEnvironments:
    """numba's records of Python objects: inner functions need none, and cached kernels keep none."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Record nothing."""


class _InnerLibrary(JITCodeLibrary):
    """LLVM code that is linked into kernels and never runs by itself."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the kernels are optimised instead."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0, because there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> type[_NoEnvironments]:
        """The place of the function's environment for numba: it has none."""
        return _NoEnvironments


class _InnerCompiler(Compiler):
    """numba's compiler for inner functions."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, result: Any, flags: Any, locals: Any
    ) -> None:
        if library is None:
            library = _InnerLibrary(targetctx.codegen(), "inner")
        super().__init__(typingctx, targetctx, library, args, result, flags, locals)


@functools.cache
def checksum(module: Path) -> str:
    """A checksum of a kernel's module and of everything that it imports from our packages, directly or
    indirectly, by the text of the imports at the left margin: a kernel sees no others."""
    roots = dict.fromkeys((_root(module), _root(Path(__file__).resolve())))
    hashed = hashlib.sha256()
    seen: set[Path] = set()
    waiting = [module, Path(__file__).resolve()]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        waiting.extend(_imported(path, tuple(roots)))
    for path in sorted(seen):
        hashed.update(str(path).encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def _root(module: Path) -> Path:
    """The folder that contains a module's topmost package."""
    folder = module.parent
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


@functools.cache
def _imported(module: Path, roots: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files below the roots that a module imports at its left margin."""
    names: list[str] = []
    for plain, package, members in _IMPORT.findall(module.read_text(encoding="utf-8")):
        names += [name.split()[0] for name in plain.split(",") if name.strip()]
        if package:
            names.append(package)
            parts = (part.split() for part in members.strip("()").split(","))
            names += [f"{package}.{part[0]}" for part in parts if part]
    files: list[Path] = []
    for name in names:
        for root in roots:
            path = root.joinpath(*name.split("."))
            files += [file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()]
    return tuple(files)

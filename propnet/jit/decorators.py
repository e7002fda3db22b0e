"""`kernel` and `inner`: numba's ``njit`` for functions that Python calls, and for what these call.

numba's disk cache serves a function as long as the function's own file is the same, although the code of
other files is compiled into it. But it tells functions apart that enclose different values. So a kernel
encloses a checksum of its file and of all our files that this one imports.

numba optimises each function by itself, makes machine code of it, and does both again in every function
that calls it. For what only kernels call this is of no use: it is optimised as part of the kernel.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba has no types)

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from propnet.jit import compiler_flags
from propnet.jit.kernel_cache import cache_for
from propnet.jit.notice import listen

listen(event)
compiler_flags.compare_quickly()

F = TypeVar("F", bound=Callable[..., Any])

_IMPORT = re.compile(r"^(?:import ([^\n#]+)|from ([\w.]+) import (\([^)]*\)|[^\n#]+))", re.MULTILINE)
"""What a module imports: ``import A, B``, or ``from A import B, C`` on one line or in parentheses."""


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
    dispatcher._cache = cache_for(dispatcher.py_func)
    return dispatcher


def inner(function: F) -> F:
    """``njit`` for functions that only kernels call: without machine code, a wrapper for Python or a cache
    file of its own (the kernel's holds it), which saves much of the time to compile.

    Hand it single arrays rather than a tuple of many: a call counts a reference to each (see
    docs/measurements.md)."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, njit(pipeline_class=_InnerCompiler, **options)(function))


ARENA: dict[str, Any] = {"nogil": True, "_nrt": False}
"""Options of a :func:`kernel` that makes no arrays of its own: references to the arrays it is given are not
counted, which else costs as much as a step of a loop through a tree."""

inlined: Any = njit(inline="always")
"""A function that numba copies into the kernels that call it, before it looks at types. It may be given many
arrays: a call of an :func:`inner` function would hand over each of them (see docs/measurements.md)."""


class _NoEnvironments:
    """numba's notes on Python objects: inner functions need none, and cached kernels keep none."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Note nothing."""


class _InnerLibrary(JITCodeLibrary):
    """LLVM code that is linked into kernels and never run by itself."""

    def _optimize_final_module(self) -> None:
        """The kernels are optimised instead."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> type[_NoEnvironments]:
        """Where numba notes the function's environment: it has none."""
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
    """A checksum of a kernel's module and of all that it imports from our packages, directly or not, by the
    text of the imports at the left margin: a kernel sees no others."""
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
    """The folder that a module's topmost package lies in."""
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

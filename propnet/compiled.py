"""`kernel` and `inner`: numba's ``njit`` for functions that Python calls, and for what these call.

numba keeps what it compiled for as long as the function's own file is the same, although the code of
other files is compiled into it. But it also keeps apart functions that enclose different values. So
a kernel is given a value to enclose: a checksum of the files in its folder that have to do with numba.

numba optimises each function by itself, makes machine code of it, and does both again in every function
that calls it. Of what only kernels call, neither is of use: it is optimised in the kernel, as part of it.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba has no types)

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from propnet.kernel_cache import cache_for

_MARKS = b"numba", b"propnet.vector", b"propnet.compiled"


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
        (CellType(checksum(Path(code.co_filename).parent)),),
    )
    bound.__doc__, bound.__module__ = function.__doc__, function.__module__
    bound.__qualname__, bound.__annotations__ = function.__qualname__, function.__annotations__
    options["no_cfunc_wrapper"] = True
    made = njit(**options)(bound)
    made._cache = cache_for(made.py_func)
    return made


def inner(function: Callable[..., Any]) -> Any:
    """``njit`` for functions that only kernels call: no code of its own, nothing made for Python, nothing
    cached by itself (the kernel's cache file holds it), which saves much of the time to compile.

    It is best given arrays, not a tuple of many: a call counts a reference to each, and the 17 arrays of a
    search tree took 0.1 us (selection for simultaneous moves took half as long again)."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(pipeline_class=_InnerCompiler, **options)(function)


class _NoEnvironments:
    """Where numba notes Python objects that code needs. What only kernels call needs none, nor would it
    find any in a kernel that comes from the disk."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Nothing to be done."""


class _InnerLibrary(JITCodeLibrary):
    """LLVM code that is linked into that of others, and never run by itself."""

    def _optimize_final_module(self) -> None:
        """Nothing: that is done in the kernels."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is no such function: 0 says so."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> type[_NoEnvironments]:
        """What is told about the environment of the function: it has none."""
        return _NoEnvironments


class _InnerCompiler(Compiler):
    """numba's compiler, with a library of that kind."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, result: Any, flags: Any, locals: Any
    ) -> None:
        if library is None:
            library = _InnerLibrary(targetctx.codegen(), "inner")
        super().__init__(typingctx, targetctx, library, args, result, flags, locals)


@functools.cache
def checksum(folder: Path) -> str:
    """A checksum of the modules in a folder, and in this one, that have to do with numba."""
    hashed = hashlib.sha256()
    for place in sorted({folder, Path(__file__).parent}):
        for path in sorted(place.glob("*.py")):
            text = path.read_bytes()
            if any(mark in text for mark in _MARKS):
                hashed.update(path.name.encode() + b"\0" + text)
    return hashed.hexdigest()

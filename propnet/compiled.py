"""`kernel`: numba's ``njit`` with a disk cache that knows of the kernels that a kernel calls.

numba keeps what it compiled for as long as the function's own file is the same, although the code of
other files is compiled into it. But it also keeps apart functions that enclose different values. So
a kernel is given a value to enclose: a checksum of the files in its folder that have to do with numba.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from numba import njit

_MARKS = b"numba", b"propnet.vector"


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
    return njit(cache=True, **options)(bound)


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

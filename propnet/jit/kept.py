"""Whether kernels that are compiled can be kept on disk."""

# mypy: disallow-untyped-calls=False
# (numba has no types)

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any

_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class KernelFolder:
    """Where kernels are looked for: ``path``, empty where there is no folder at all; whether files can be
    written there; and whether it holds kernels already."""

    path: str
    writable: bool
    filled: bool


def kernel_folder(dispatcher: Any) -> KernelFolder:
    """The folder of a kernel, which is tried by writing a file there."""
    path = getattr(dispatcher._cache, "_cache_path", "") or ""
    if not path:
        return KernelFolder("", False, False)
    try:
        filled = any(name.endswith(".nbi") for name in os.listdir(path))
    except OSError:
        filled = False
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path, buffering=0) as file:
            writable = file.write(bytes(_BYTES)) == _BYTES
    except OSError:
        writable = False
    return KernelFolder(path, writable, filled)

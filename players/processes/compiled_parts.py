"""Which parts of the kernels need no compiling any more: a file beside the kernels stands for each.

It is of use to whoever may not wait: to ask a kernel would compile it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path


def is_compiled(name: str) -> bool:
    """Whether a process has compiled this part, for the program as it is now. False where nothing can be
    kept."""
    folder = kernel_folder()
    return folder is not None and os.path.exists(_done(folder, name))


def note_compiled(name: str) -> None:
    """Note that a part is compiled, and forget for which programs it was compiled before."""
    folder = kernel_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            if other.startswith(f"part-{name}.") and other.endswith(".done") and _stamp() not in other:
                os.unlink(os.path.join(folder, other))
        Path(_done(folder, name)).touch()


def kernel_folder() -> str | None:
    """Where kernels are kept; None where they cannot be."""
    from propnet.kernels.playouts import playouts

    folder: str | None = playouts._cache.cache_path
    return folder


def _done(folder: str, name: str) -> str:
    return os.path.join(folder, f"part-{name}.{_stamp()}.done")


@cache
def _stamp() -> str:
    """What compiled kernels depend on: the program's files, numba, and the processor."""
    import llvmlite.binding
    import numba

    seen: list[object] = [numba.__version__, llvmlite.__version__, llvmlite.binding.get_host_cpu_name()]
    root = Path(__file__).resolve().parents[2]
    for package in ("propnet", "players"):
        for folder, _, files in sorted(os.walk(root / package)):
            stats = {name: os.stat(os.path.join(folder, name)) for name in files if name.endswith(".py")}
            seen += [(folder, name, one.st_mtime_ns, one.st_size) for name, one in sorted(stats.items())]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]

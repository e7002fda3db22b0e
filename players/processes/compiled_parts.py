"""Which parts of the kernels need no compiling any more: a file beside the kernels stands for each.

It is of use to whoever may not wait: to ask a kernel would compile it, and to import numba alone takes longer
than a first move. So nothing here imports numba.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import propnet
from propnet.private_files import is_trusted, make_directory, user_directory

_MODE = 0o755
"""Of a folder for kernels, as :mod:`propnet.jit.kernel_cache` makes it."""
_OF_PROCESSORS = ("vendor_id", "cpu family", "model", "flags", "CPU ", "Features")
"""What /proc/cpuinfo tells of a processor's kind; other lines change as it runs."""


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
            if other.startswith(f"part-{name}.") and other.endswith(".done") and program_stamp() not in other:
                os.unlink(os.path.join(folder, other))
        Path(_done(folder, name)).touch()


def kernel_folder() -> str | None:
    """Where the kernels of ``propnet/kernels`` are kept, and with them the notes of all parts; None where
    they cannot be. :mod:`propnet.jit.kernel_cache` has numba look in the same places in the same order."""
    for folder, for_writing in _places():
        with contextlib.suppress(OSError):
            if for_writing:
                make_directory(folder, _MODE)
            if is_trusted(folder) and os.access(folder, os.W_OK if for_writing else os.R_OK):
                return str(folder)
    return None


def _places() -> Iterator[tuple[Path, bool]]:
    """Folders, and whether they have to be such that kernels can be written there."""
    kernels = os.path.abspath(os.path.join(propnet.__path__[0], "kernels"))
    below = f"{os.path.basename(kernels)}_{hashlib.sha1(kernels.encode()).hexdigest()}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen, below), True
        yield Path(chosen, below), False
    places = [Path(kernels, "__pycache__")]
    yield places[0], True
    with contextlib.suppress(RuntimeError):  # no home
        places.append(user_directory() / "kernels" / below)
        yield places[1], True
    for folder in places:
        yield folder, False


def _done(folder: str, name: str) -> str:
    return os.path.join(folder, f"part-{name}.{program_stamp()}.done")


@cache
def program_stamp() -> str:
    """What compiled kernels depend on: the program's files, numba, and the processor."""
    seen: list[object] = [_version("numba"), _version("llvmlite"), _processor()]
    root = Path(__file__).resolve().parents[2]
    for package in ("propnet", "players"):
        for folder, _, files in sorted(os.walk(root / package)):
            stats = {name: os.stat(os.path.join(folder, name)) for name in files if name.endswith(".py")}
            seen += [(folder, name, one.st_mtime_ns, one.st_size) for name, one in sorted(stats.items())]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # installed by other means
        return ""


def _processor() -> list[str]:
    """What tells kinds of processors apart: LLVM compiles for one kind."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:  # not Linux
        return [platform.machine(), platform.processor()]
    return [line for line in first.splitlines() if line.startswith(_OF_PROCESSORS)]

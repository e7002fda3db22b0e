"""Notes which parts of the kernels are compiled already: a file in the kernels' folder stands for each part.

This serves callers that must not wait. Asking a kernel would compile it, and importing numba alone takes
longer than a first move, so nothing here imports numba.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import propnet
from propnet.jit.kernel_places import kernel_folder

Part = tuple[str, Callable[[], None]]
"""A name, and the function that compiles or loads the part."""
_OF_PROCESSORS = ("vendor_id", "cpu family", "model", "flags", "CPU ", "Features")
"""Lines of /proc/cpuinfo that identify a kind of processor; other lines change while it runs."""


def is_compiled(name: str) -> bool:
    """Whether a process has compiled this part for the current program. False if nothing can be cached."""
    folder = folder_of_parts()
    return folder is not None and _done(folder, name).exists()


def note_compiled(name: str) -> None:
    """Note that a part is compiled, and drop the notes of this part for older programs."""
    folder = folder_of_parts()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            if other.startswith(f"part-{name}.") and other.endswith(".done") and program_stamp() not in other:
                (folder / other).unlink()
        _done(folder, name).touch()


def folder_of_parts() -> Path | None:
    """The folder of all notes, which is that of the kernels of ``propnet/kernels``; None if there is none."""
    return kernel_folder(Path(propnet.__path__[0], "kernels", "__init__.py"))


def _done(folder: Path, name: str) -> Path:
    return folder / f"part-{name}.{program_stamp()}.done"


@cache
def program_stamp() -> str:
    """A digest of everything that compiled kernels depend on: the program's files, numba, and the
    processor."""
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
    """Lines that distinguish kinds of processors: LLVM compiles for one kind."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:  # not Linux
        return [platform.machine(), platform.processor()]
    return [line for line in first.splitlines() if line.startswith(_OF_PROCESSORS)]

"""Kernels in named parts, which processes compile together; a file in the kernels' folder stands for each
part that is compiled. This module alone knows what is compiled.

A process that finds a part locked by another one goes on with the next, and returns to it at the end, when
the part usually only has to be loaded (:mod:`propnet.jit.decorators`). In this way processes that start
together share the work without knowing each other: those of ``ggp warm``, fork servers, matches.

Asking a kernel whether it is compiled would compile it, and importing numba alone takes longer than a first
move, so :func:`missing` imports neither.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from propnet.jit.kernel_places import kernel_folder
from propnet.storage.process_lock import ProcessLock

Part = tuple[str, Callable[[], None]]
"""A name, and the function that compiles or loads the part."""
_ROOT = Path(__file__).resolve().parents[2]
_OF_PROCESSORS = ("vendor_id", "cpu family", "model", "flags", "CPU ", "Features")
"""Lines of /proc/cpuinfo that identify a kind of processor; other lines change while it runs."""


def compile_together(parts: Sequence[Part]) -> None:
    """Compile or load these parts, sharing the work with other processes that do the same."""
    from propnet.jit.blas import spare_import

    program_stamp()  # the program may change while kernels are compiled: notes describe the code loaded now
    spare_import()  # also for kernels that are compiled already

    folder = folder_of_parts()
    locked: list[Callable[[], None]] = []
    for name, compile_part in parts:
        lock = ProcessLock(str(folder / f"part-{name}.lock")) if folder else None
        if lock is None or lock.take(0.0):
            compile_part()
            if folder is not None and lock is not None:
                _note(folder, name)
                lock.leave()
        else:
            locked.append(compile_part)
    for compile_part in locked:
        compile_part()


def missing(parts: Sequence[Part]) -> list[Part]:
    """The parts that no process has compiled yet for the current program; all of them if nothing can be
    cached."""
    return [part for part in parts if not is_compiled(part[0])]


def is_compiled(name: str) -> bool:
    """Whether a process has compiled this part for the current program. False if nothing can be cached."""
    folder = folder_of_parts()
    return folder is not None and _done(folder, name).exists()


def folder_of_parts() -> Path | None:
    """The folder of all notes, which is that of the kernels of ``propnet/kernels``; None if there is none."""
    return kernel_folder(_ROOT / "propnet" / "kernels" / "__init__.py")


def _note(folder: Path, name: str) -> None:
    """Note that a part is compiled, and drop the notes of this part for older programs."""
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            if other.startswith(f"part-{name}.") and other.endswith(".done") and program_stamp() not in other:
                (folder / other).unlink()
        _done(folder, name).touch()


def _done(folder: Path, name: str) -> Path:
    return folder / f"part-{name}.{program_stamp()}.done"


@cache
def program_stamp() -> str:
    """A digest of everything that compiled kernels depend on: the program's files, numba, and the
    processor."""
    seen: list[object] = [_version("numba"), _version("llvmlite"), _processor()]
    for package in ("propnet", "players"):
        for folder, _, files in sorted(os.walk(_ROOT / package)):
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

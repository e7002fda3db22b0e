"""Where compiled kernels are kept: folders, in the order in which they are tried. It imports no numba."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from propnet.private_files import is_trusted, make_directory, user_directory

_MODE = 0o755
"""Of folders with kernels: root may compile for all."""


def kernel_folder(file: Path) -> Path | None:
    """The folder for the kernels of this module: the first that can be written, else that can be read; None
    where there is none. Nobody else can write to it. A folder that is configured ($NUMBA_CACHE_DIR) comes
    first, then that of the program, then the user's."""
    for folder, for_writing in _places(file):
        with contextlib.suppress(OSError):
            if for_writing:
                make_directory(folder, _MODE)
            if is_trusted(folder) and os.access(folder, os.W_OK if for_writing else os.R_OK):
                return folder
    return None


def _places(file: Path) -> Iterator[tuple[Path, bool]]:
    """Folders, and whether they have to be such that kernels can be written there."""
    beside = os.path.dirname(os.path.abspath(file))
    # One folder for each of modules, named as numba's own cache names them.
    below = f"{os.path.basename(beside)}_{hashlib.sha1(beside.encode()).hexdigest()}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen, below), True
        yield Path(chosen, below), False
    places = [Path(beside, "__pycache__")]
    yield places[0], True
    with contextlib.suppress(RuntimeError):  # no home
        places.append(user_directory() / "kernels" / below)
        yield places[1], True
    for folder in places:
        yield folder, False

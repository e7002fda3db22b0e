"""The folders of compiled kernels, in the order in which they are tried. It imports no numba."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from propnet.private_files import is_trusted, make_directory, user_directory

_MODE = 0o755
"""The mode of folders with kernels: root may compile for all users."""


def kernel_folder(file: Path) -> Path | None:
    """The folder for the kernels of this module: the first that can be written, else that can be read. None
    if there is none. No one else can write to it. A configured folder ($NUMBA_CACHE_DIR) comes first, then
    that of the program, then the user's."""
    for folder, for_writing in _places(file):
        with contextlib.suppress(OSError):
            if for_writing:
                make_directory(folder, _MODE)
            if is_trusted(folder) and os.access(folder, os.W_OK if for_writing else os.R_OK):
                return folder
    return None


def _places(file: Path) -> Iterator[tuple[Path, bool]]:
    """Folders, and whether kernels must be writable there."""
    module_folder = os.path.dirname(os.path.abspath(file))
    # One folder for each folder of modules, named as numba's own cache names them.
    below = f"{os.path.basename(module_folder)}_{hashlib.sha1(module_folder.encode()).hexdigest()}"
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen, below), True
        yield Path(chosen, below), False
    places = [Path(module_folder, "__pycache__")]
    yield places[0], True
    with contextlib.suppress(RuntimeError):  # no home
        places.append(user_directory() / "kernels" / below)
        yield places[1], True
    for folder in places:
        yield folder, False

"""Files of code that only this user writes: read completely, unchanged and under their own name, or not at
all.

All caches (networks, native code, guides, kernels) follow one rule, because their contents are executed. A
folder or file is used only if this user or root owns it and no one else can write to it. A checksum of name
and bytes finds files that were cut short, changed, or put in another's place.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from gdl.reading import open_regular, read_open
from gdl.writing import replace_file

DIGEST_BYTES = 32
"""The bytes that a file has in addition to its content."""

_OTHERS_WRITE = 0o022


def user_directory() -> Path:
    """The platform's folder for this user's caches. Raises RuntimeError if the user has no home."""
    import platformdirs

    return platformdirs.user_cache_path("kaskade-ggp")


def default_directory() -> Path:
    """The folder of caches of games: ``$GGP_CACHE``, else :func:`user_directory`. Raises RuntimeError if the
    user has no home."""
    return Path(chosen) if (chosen := os.environ.get("GGP_CACHE")) else user_directory()


def make_directory(directory: Path, mode: int = 0o700) -> None:
    """Create a folder that only this user can write to, unless it exists. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True, mode=mode & ~_OTHERS_WRITE)


def is_trusted(directory: Path) -> bool:
    """Whether this user or root owns a directory and no one else can write to it. Raises OSError."""
    if not hasattr(os, "getuid"):
        return directory.is_dir()
    return _ours(directory.stat())


def _ours(status: os.stat_result) -> bool:
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & _OTHERS_WRITE


def read(path: Path, most: int) -> bytes:
    """The content that :func:`write` wrote to this path, at most ``most`` bytes.

    Raises:
        FileError: the file cannot be read or is larger.
        PermissionError: others can write to the file.
        ValueError: the file is damaged or was written under another name.
        OSError: another failure of the system.
    """
    with open_regular(path) as file:
        if hasattr(os, "getuid") and not _ours(os.fstat(file.fileno())):
            raise PermissionError("others can write to the file")
        data = read_open(file, most + DIGEST_BYTES, str(path))
    content = data[DIGEST_BYTES:]
    if _digest(path.name, content) != data[:DIGEST_BYTES]:
        raise ValueError("the file is damaged, or was written under another name")
    return content


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file to the path, or replace the one there (:func:`gdl.writing.replace_file`). Raises
    OSError."""
    data = _digest(path.name, content) + content
    replace_file(path, data, mode=mode & ~_OTHERS_WRITE, lasting=False)


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()

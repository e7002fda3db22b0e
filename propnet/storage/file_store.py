"""A store of named files on disk: readers get a file whole or not at all.

A file is written under a temporary name and then renamed, so that concurrent writers do no harm; a checksum
finds files that were cut short or changed. The least recently used files go when all together grow too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import tempfile
from pathlib import Path

log = logging.getLogger("propnet.kept")

_DIGEST = 32
_NEW = ".new-"


def default_directory() -> Path:
    """Where caches are: ``$GGP_CACHE``, or the platform's folder for users' caches. Raises RuntimeError if
    the user has no home."""
    if chosen := os.environ.get("GGP_CACHE"):
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("kaskade-ggp")


class FileStore:
    """A directory of such files, and of nothing else; made when first needed. Together they have at most
    ``most_bytes``. No method raises: where one fails it only forgets."""

    def __init__(self, directory: Path, most_bytes: int) -> None:
        self.directory = directory
        self._most_bytes = most_bytes

    def get(self, name: str) -> bytes | None:
        """The bytes stored under a name, which counts as a use of them; None if there are none."""
        path = self.directory / name
        try:
            if not _trusted(self.directory):
                return None
            data = path.read_bytes()
            if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
                log.warning("%s is not used: it is not whole", name)
                return None
            os.utime(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("%s is not used: %s", name, error)
            return None
        return data[_DIGEST:]

    def put(self, name: str, data: bytes) -> bool:
        """Store bytes under a name; whether that was possible."""
        if len(data) + _DIGEST > self._most_bytes:
            return False
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not _trusted(self.directory):
                log.warning("%s belongs to others: nothing is kept there", self.directory)
                return False
            with tempfile.NamedTemporaryFile(dir=self.directory, prefix=_NEW, delete=False) as file:
                try:
                    file.write(hashlib.sha256(data).digest() + data)
                    file.flush()
                    os.replace(file.name, self.directory / name)
                except BaseException:
                    os.unlink(file.name)
                    raise
            self._make_room()
        except OSError as error:
            log.warning("%s is not kept: %s", name, error)
            return False
        return True

    def _make_room(self) -> None:
        """Remove the least recently used files, among them leftovers of killed writers."""
        files: list[tuple[float, int, Path]] = []
        for path in self.directory.iterdir():
            with contextlib.suppress(OSError):  # another process has removed it
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size


def _trusted(directory: Path) -> bool:
    """Whether a directory is ours, and nobody else can write to it: it may hold code."""
    if not hasattr(os, "getuid"):
        return directory.is_dir()
    status = directory.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022

"""Bytes kept on disk by name: each file is found whole or not at all, and the oldest make room.

A file is written under another name and then given its own, so that readers see all of it or nothing
whoever writes at the same time; a checksum finds files that were cut short or changed. Files that have
not been used for the longest time go first when all together grow too large.
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
    """Where caches are: ``$GGP_CACHE``, or what the platform has for users' caches.

    Raises:
        RuntimeError: the user has no home.
    """
    chosen = os.environ.get("GGP_CACHE")
    if chosen:
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("kaskade-ggp")


class KeptFiles:
    """A directory of such files. Nothing is raised: where it fails it only forgets.

    Args:
        directory: where; made when first needed. It may hold nothing else.
        most_bytes: how large its files may become together.
    """

    def __init__(self, directory: Path, most_bytes: int) -> None:
        self.directory = directory
        self._most_bytes = most_bytes

    def get(self, name: str) -> bytes | None:
        """The bytes that were kept under a name; they count as used now."""
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
        """Keep bytes under a name; whether that was possible."""
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
        """Remove the files that were not used for the longest time, among them what writers that were
        killed have left."""
        found: list[tuple[float, int, Path]] = []
        for path in self.directory.iterdir():
            with contextlib.suppress(OSError):  # another process has removed it
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size


def _trusted(directory: Path) -> bool:
    """Whether a directory is there, and nobody but its owner, us, can write to it: code may lie there."""
    if not hasattr(os, "getuid"):
        return directory.is_dir()
    try:
        status = directory.stat()
    except FileNotFoundError:
        return False
    return status.st_uid == os.getuid() and not status.st_mode & 0o022

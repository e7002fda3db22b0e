"""A store of named files on disk with an upper bound: if all together become too large, the least recently
used are removed. :mod:`propnet.private_files` writes them, and decides which files are trusted.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from pathlib import Path

from gdl.errors import FileError, MissingFileError
from propnet.private_files import DIGEST_BYTES, is_trusted, make_directory, read, write

log = logging.getLogger("propnet.kept")


class FileStore:
    """A directory of such files, created at its first use; folders in it are left alone. Together the files
    have at most ``most_bytes``. No method raises: a failed read or write only loses the file."""

    def __init__(self, directory: Path, most_bytes: int) -> None:
        self.directory = directory
        self._most_bytes = most_bytes

    def get(self, name: str) -> bytes | None:
        """The bytes stored under a name, which counts as a use of them; None if there are none."""
        path = self.directory / name
        try:
            if not is_trusted(self.directory):
                return None
            data = read(path, self._most_bytes)
        except (FileNotFoundError, MissingFileError):  # the folder, the file
            return None
        except (FileError, OSError, ValueError) as error:
            log.warning("%s is not used: %s", name, error)
            return None
        with contextlib.suppress(OSError):  # a folder that can only be read
            os.utime(path)
        return data

    def put(self, name: str, data: bytes) -> bool:
        """Store bytes under a name; return whether that was possible."""
        if len(data) + DIGEST_BYTES > self._most_bytes:
            return False
        try:
            make_directory(self.directory)
            if not is_trusted(self.directory):
                log.warning("nothing is stored in %s: others can write to it", self.directory)
                return False
            write(self.directory / name, data)
            self._make_room()
        except OSError as error:
            log.warning("%s is not stored: %s", name, error)
            return False
        return True

    def _make_room(self) -> None:
        """Remove the least recently used files, including leftovers of killed writers."""
        files: list[tuple[float, int, Path]] = []
        for path in self.directory.iterdir():
            with contextlib.suppress(OSError):  # another process has removed it
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size

"""Files of code that only this user writes: read whole, unchanged and under their own name, or not at all.
A store of such files with an upper bound, and a lock that one process at a time holds.

One rule for all caches (networks, native code, guides, kernels), because what they hold is run. A folder
counts if it belongs to this user or to root, and nobody else can write to it; so does a file. A checksum of
name and bytes finds files that were cut short, changed, or put in another's place.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import time
from pathlib import Path

from gdl.errors import FileError, MissingFileError
from gdl.reading import open_regular, read_open
from gdl.writing import replace_file

DIGEST_BYTES = 32
"""By how much a file is larger than what it holds."""

_OTHERS_WRITE = 0o022


def user_directory() -> Path:
    """The platform's folder for this user's caches. Raises RuntimeError if the user has no home."""
    import platformdirs

    return platformdirs.user_cache_path("kaskade-ggp")


def default_directory() -> Path:
    """Where caches of games are: ``$GGP_CACHE``, else :func:`user_directory`. Raises RuntimeError if the user
    has no home."""
    return Path(chosen) if (chosen := os.environ.get("GGP_CACHE")) else user_directory()


def make_directory(directory: Path, mode: int = 0o700) -> None:
    """Make a folder that nobody else can write to, if it is not there. Raises OSError."""
    directory.mkdir(parents=True, exist_ok=True, mode=mode & ~_OTHERS_WRITE)


def is_trusted(directory: Path) -> bool:
    """Whether a directory belongs to this user or root, and nobody else can write to it. Raises OSError."""
    if not hasattr(os, "getuid"):
        return directory.is_dir()
    return _ours(directory.stat())


def _ours(status: os.stat_result) -> bool:
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & _OTHERS_WRITE


def read(path: Path, most: int) -> bytes:
    """What :func:`write` was given for this path, at most ``most`` bytes. Raises FileError where it cannot be
    read or is larger, OSError, PermissionError where others can write the file, and ValueError where it is
    damaged or was written under another name."""
    with open_regular(path) as file:
        if hasattr(os, "getuid") and not _ours(os.fstat(file.fileno())):
            raise PermissionError("others can write to it")
        data = read_open(file, most + DIGEST_BYTES, str(path))
    content = data[DIGEST_BYTES:]
    if _digest(path.name, content) != data[:DIGEST_BYTES]:
        raise ValueError("it is not whole, or belongs under another name")
    return content


def write(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Put a file in place of what is at the path (:func:`gdl.writing.replace_file`). Raises OSError."""
    data = _digest(path.name, content) + content
    replace_file(path, data, mode=mode & ~_OTHERS_WRITE, lasting=False)


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


log = logging.getLogger("propnet.kept")


class FileStore:
    """A directory of such files, made when first needed; folders in it are left alone. Together the files
    have at most ``most_bytes``. No method raises: where one fails it only forgets."""

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
        """Store bytes under a name; whether that was possible."""
        if len(data) + DIGEST_BYTES > self._most_bytes:
            return False
        try:
            make_directory(self.directory)
            if not is_trusted(self.directory):
                log.warning("nothing is kept in %s: others can write to it", self.directory)
                return False
            write(self.directory / name, data)
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
                status = path.lstat()
                if stat.S_ISREG(status.st_mode):
                    files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self._most_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size


try:
    import fcntl
except ImportError:  # no such locks on this platform: each process works for itself
    fcntl = None  # type: ignore[assignment]

PATIENCE_SECONDS = 90.0
"""How long to wait for another process, which may be stopped; then this one does the work too."""
_LOOK_SECONDS = 0.02


class ProcessLock:
    """A lock between processes: a file that is locked (``flock``) as long as the process lives, or until it
    leaves.

    Attributes:
        locked: whether this process has it, and no other one can have it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = -1
        self.locked = False

    def take(self, patience: float = PATIENCE_SECONDS) -> bool:
        """Wait for the lock ``patience`` seconds at most; whether it was obtained. It is obtained at once
        where it is held already, and where there can be no locks."""
        if self._file >= 0 or fcntl is None:
            return True
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # a folder that can only be read: nobody else writes there either
            return True
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.locked = True
                return True
            except BlockingIOError:
                if time.monotonic() >= end:
                    self.leave()
                    return False
                time.sleep(_LOOK_SECONDS)
            except OSError:  # a file system without locks
                return True

    def leave(self) -> None:
        """Release the lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file, self.locked = -1, False

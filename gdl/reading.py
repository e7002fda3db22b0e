"""Reads files that a user or a stranger names: regular files only, and no more bytes than the reader can use.
Decodes them as text, with one encoding and one kind of line end for all readers.

A name may lead to a device that never ends, to a pipe without a writer, or to a file of terabytes. All
packages read such files here (a test of the tree forbids other ways), so that each failure is one line. Also
says where the bundled games lie.
"""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path
from typing import BinaryIO

from gdl.errors import FileError, MissingFileError, Place

_FLAGS = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
"""Open a pipe without waiting for its writer. Not all systems have all of these flags."""
_CHUNK = 1 << 20
"""Bytes at a time, so that memory is allocated only for bytes that exist."""
_WHY = {
    PermissionError: "you may not read it",
    IsADirectoryError: "it is a folder",
    NotADirectoryError: "a part of its path is not a folder",
}


def games_folder() -> Path:
    """The folder of the bundled games: inside ``ggp`` once installed, beside the packages in a checkout."""
    root = Path(__file__).resolve().parents[1]
    inside = root / "ggp" / "games"
    return inside if inside.is_dir() else root / "games"


def open_regular(path: Path | str, remedy: str = "") -> BinaryIO:
    """A regular file, open for reading from its beginning; links are followed.

    Args:
        path: of the file.
        remedy: what the error says to do; may be empty.

    Raises:
        MissingFileError: there is no such file.
        FileError: it is a folder, a pipe, a device or a socket, or may not be read.
    """
    try:
        # Some devices do something as soon as they are opened, so the name is looked at first.
        _check_kind(os.stat(path), path, remedy)
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        raise _refused(path, error, remedy) from None
    except ValueError:  # a NUL, or a half of a surrogate pair
        raise MissingFileError(f"cannot read {path}: there is no such file", remedy=remedy) from None
    try:
        _check_kind(os.fstat(descriptor), path, remedy)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_limited(path: Path | str, most: int, remedy: str = "") -> bytes:
    """The bytes of a regular file.

    Args:
        path: of the file.
        most: how many bytes it may have; no more than one beyond them is read.
        remedy: what the error says to do; may be empty.

    Raises:
        MissingFileError: there is no such file.
        FileError: as :func:`open_regular`, or it has more bytes.
    """
    with open_regular(path, remedy) as file:
        try:
            return read_open(file, most, str(path), remedy)
        except OSError as error:
            raise _refused(path, error, remedy) from None


def read_open(file: BinaryIO, most: int, name: str, remedy: str = "") -> bytes:
    """The rest of an open file, or of standard input, at most ``most`` bytes. ``name`` is for messages.
    Raises FileError if there is more, and OSError."""
    data = bytearray()
    while len(data) <= most and (part := file.read(min(most + 1 - len(data), _CHUNK))):
        data += part
    if len(data) > most:
        raise FileError(f"cannot read {name}: it is larger than {_size(most)}", remedy=remedy)
    return bytes(data)


def text_of_file(path: Path | str, most: int, remedy: str = "") -> str:
    """The text of a regular file: :func:`read_limited`, then :func:`text_of`."""
    return text_of(read_limited(path, most, remedy), str(path))


def text_of(data: bytes, source: str = "") -> str:
    """The :func:`plain` text of a file or message: UTF-8, UTF-16 with a byte order mark, or else Latin-1, as
    old files have it. Raises FileError, with line and column, where it holds a NUL, which no text does."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    text = plain(text)
    if (at := text.find("\0")) >= 0:
        raise FileError("this is not text", Place.of(text, at), "save the file as UTF-8", source)
    return text


def plain(text: str) -> str:
    r"""The text without a byte order mark before it, its lines ended by LF. LF, CR LF and CR end lines; form
    feeds and other signs do not. Every reader of text begins with this, so that all count lines alike.

    >>> plain("\ufeffone\rtwo\r\nthree\x0c")
    'one\ntwo\nthree\x0c'
    """
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _check_kind(status: os.stat_result, path: Path | str, remedy: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError
    if not stat.S_ISREG(status.st_mode):
        raise FileError(
            f"cannot read {path}: it is not a regular file", remedy=remedy or "name a file, no pipe or device"
        )


def _refused(path: Path | str, error: OSError, remedy: str) -> FileError:
    if isinstance(error, FileNotFoundError):
        return MissingFileError(f"cannot read {path}: there is no such file", remedy=remedy)
    why = next((text for kind, text in _WHY.items() if isinstance(error, kind)), error.strerror or str(error))
    return FileError(f"cannot read {path}: {why}", remedy=remedy)


def _size(count: int) -> str:
    """
    >>> _size(4 << 20), _size(1000)
    ('4 MiB', '1,000 bytes')
    """
    return f"{count >> 20:,} MiB" if count >= 1 << 20 and not count % (1 << 20) else f"{count:,} bytes"

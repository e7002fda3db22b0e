"""Files that survive a crash: they are replaced at once or not at all, and damage is detected.

Readers see the old file or the new one. A checksum detects truncated or changed files. This module writes all
checkpoints, tables, saved searches, caches and learnt knowledge.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

NEW = ".new-"
"""Begins the names of unfinished files. A process that is killed leaves them behind."""

_DIGEST, _BODY = "digest", "body"


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system within name this path, if they name none, as those of a full disk do."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, lasting: bool = True) -> None:
    """Replace the file at the path at once. Simultaneous writers do no harm.

    Args:
        path: of the file; a link is replaced, not the file that it leads to.
        data: the new content.
        mode: its permissions.
        lasting: whether the file, and all names in its folder, are to be on the disk when this returns, and
            the old one is there until then.

    Raises OSError, which names the path; the old file stays then.
    """
    with naming(path), tempfile.NamedTemporaryFile(dir=path.parent, prefix=NEW, delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.chmod(file.name, mode)
            if lasting:
                os.fsync(file.fileno())
                make_lasting(path.parent)  # what the new file names, before it does
            os.replace(file.name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(file.name)
            raise
    if lasting:
        make_lasting(path.parent)


def make_lasting(path: Path) -> None:
    """Wait until what was written to a file, or the names in a folder, are on the disk. Raises OSError."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def digest_of(data: bytes) -> str:
    """BLAKE2b of bytes: 16 bytes, in hexadecimal."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def sealed(body: dict[str, Any], **head: Any) -> bytes:
    """JSON of ``body`` with its digest; ``head`` are more fields beside them.

    >>> unsealed(sealed({"a": 1}, version=2))
    ({'version': 2}, {'a': 1})
    """
    return _text({**head, _DIGEST: digest_of(_text(body)), _BODY: body})


def unsealed(data: bytes, bare: str | None = None) -> tuple[dict[str, Any], Any]:
    """The head and the body of bytes from :func:`sealed`.

    Args:
        data: the bytes.
        bare: a field of bodies that earlier releases wrote without a digest; they are still read.

    Raises ValueError, with the reason, if the bytes are something else or were changed.
    """
    try:
        outer = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(outer, dict) and bare in outer:
        return {}, outer
    if not isinstance(outer, dict) or _DIGEST not in outer or _BODY not in outer:
        raise ValueError("it has no digest")
    digest, body = outer.pop(_DIGEST), outer.pop(_BODY)
    # Earlier releases sorted the keys of some files.
    if digest not in (digest_of(_text(body)), digest_of(_text(body, orjson.OPT_SORT_KEYS))):
        raise ValueError("its digest does not fit")
    return outer, body


def _text(value: Any, options: int = 0) -> bytes:
    try:
        return orjson.dumps(value, option=options)
    except TypeError:  # numbers of more than 64 bits
        return json.dumps(value, separators=(",", ":"), sort_keys=bool(options)).encode()

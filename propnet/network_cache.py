"""Networks on disk, so that a game that was played before needs no grounding and no building.

A file is named by a hash of the rules and of the code that builds, so that neither another game nor
another version of a pass ever finds it. It holds the network's bytes (:mod:`propnet.network_bytes`)
and their digest, and is put in its place whole: several processes may write the same one, and one
that was cut off is as good as none. The files used longest ago go when there are too many bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path

from gdl.rules import Rules
from propnet.object_cache import default_directory

MAX_BYTES = 256 * 1024 * 1024
"""Size of all files together, in bytes."""

_CODE = ("gdl", "gdl/checks", "gdl/grounding", "propnet", "propnet/passes")
_DIGEST = 32


def load(rules: Rules) -> bytes | None:
    """The bytes of the network of these rules, if they were kept."""
    path = _path(rules)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    network = data[_DIGEST:]
    if hashlib.sha256(network).digest() != data[:_DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it was used now
    return network


def keep(rules: Rules, network: bytes) -> bool:
    """Keep the bytes of a network; whether that was possible."""
    path = _path(rules)
    if path is None or len(network) > MAX_BYTES:
        return False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(network).digest() + network)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        _make_room(path.parent)
    except OSError:
        return False
    return True


def _path(rules: Rules) -> Path | None:
    try:
        folder = default_directory()
    except RuntimeError:  # nobody's home
        return None
    name = hashlib.sha256(_code_version() + str(rules).encode()).hexdigest()
    return folder / "networks" / name


@cache
def _code_version() -> bytes:
    """Changes when a module that takes part in building does."""
    root = Path(__file__).resolve().parent.parent
    seen: list[str] = []
    for folder in _CODE:
        for path in sorted((root / folder).glob("*.py")):
            status = path.stat()
            seen.append(f"{path.name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(seen).encode() + b"\n\n"


def _make_room(folder: Path) -> None:
    """Remove the files that were used longest ago while there are too many bytes."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # another process has removed it
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= MAX_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size

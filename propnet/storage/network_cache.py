"""Networks on disk, so that a game that was played before needs no grounding and no building.

A file is named by a hash of the rules and of the code that builds: no other game, and no other version of a
pass, finds it. It holds the network's bytes (:mod:`propnet.storage.network_bytes`).
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import propnet
from gdl.rules import Rules
from propnet.private_files import default_directory
from propnet.storage.file_store import FileStore

MAX_BYTES = 256 * 1024 * 1024
"""Size of all files together, in bytes."""
_CODE = "gdl", "propnet"
"""The packages that take part in building."""


def load(rules: Rules, kind: str = "") -> bytes | None:
    """The bytes of the network of these rules, if they are stored; ``kind`` tells apart those that are built
    in other ways."""
    return files.get(_name(rules, kind)) if (files := _files()) is not None else None


def keep(rules: Rules, network: bytes, kind: str = "") -> bool:
    """Store the bytes of a network; whether that was possible."""
    files = _files()
    return files is not None and files.put(_name(rules, kind), network)


def _files() -> FileStore | None:
    try:
        return FileStore(default_directory() / "networks", MAX_BYTES)
    except RuntimeError:  # the user has no home
        return None


def _name(rules: Rules, kind: str) -> str:
    return hashlib.sha256(_code_version() + kind.encode() + str(rules).encode()).hexdigest()


@cache
def _code_version() -> bytes:
    return code_version(Path(propnet.__path__[0]).parent)


def code_version(root: Path) -> bytes:
    """Bytes that change with the modules that take part in building, in the packages below a folder."""
    modules: list[str] = []
    for folder in _CODE:
        for path in sorted((root / folder).rglob("*.py")):
            status = path.stat()
            modules.append(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(modules).encode() + b"\n\n"

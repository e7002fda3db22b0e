"""Networks on disk, so that a game that was played before needs no grounding and no building.

A file is named by a hash of the rules and of the code that builds, so that neither another game nor
another version of a pass ever finds it. It holds the network's bytes (:mod:`propnet.storage.network_bytes`).
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import propnet
from gdl.rules import Rules
from propnet.storage.file_store import KeptFiles, default_directory

MAX_BYTES = 256 * 1024 * 1024
"""Size of all files together, in bytes."""

_CODE = "gdl", "propnet"
"""The packages that take part in building, with all folders in them."""


def load(rules: Rules) -> bytes | None:
    """The bytes of the network of these rules, if they were kept."""
    files = _files()
    return files.get(_name(rules)) if files is not None else None


def keep(rules: Rules, network: bytes) -> bool:
    """Keep the bytes of a network; whether that was possible."""
    files = _files()
    return files is not None and files.put(_name(rules), network)


def _files() -> KeptFiles | None:
    try:
        return KeptFiles(default_directory() / "networks", MAX_BYTES)
    except RuntimeError:  # nobody's home
        return None


def _name(rules: Rules) -> str:
    return hashlib.sha256(_code_version() + str(rules).encode()).hexdigest()


@cache
def _code_version() -> bytes:
    """Changes when a module that takes part in building does."""
    return code_version(Path(propnet.__path__[0]).parent)


def code_version(root: Path) -> bytes:
    """What changes when a module that takes part in building does, is moved, comes or goes.

    Args:
        root: the folder that holds the packages.
    """
    seen: list[str] = []
    for folder in _CODE:
        for path in sorted((root / folder).rglob("*.py")):
            status = path.stat()
            seen.append(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(seen).encode() + b"\n\n"

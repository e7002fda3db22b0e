"""Compiled networks on disk: one file per network, processor and version."""

from __future__ import annotations

import hashlib
import io
import json
import logging
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from propnet.kernels.plan import Plan
from propnet.native import codegen, layout
from propnet.native.assembler import Target
from propnet.native.layout import Straight
from propnet.network import Network
from propnet.private_files import default_directory
from propnet.storage.file_store import FileStore

log = logging.getLogger("propnet.native")

MOST_BYTES = 1 << 30
"""How large all files together may become."""
Compiled = tuple[Straight, dict[int, bytes]]
"""A layout, and the object files by the first piece of each."""


class ObjectCache:
    """A directory of compiled networks, created when first needed (``native`` in the default directory if
    None is given), with at most ``most_bytes``. Nothing is raised: a cache that fails only forgets."""

    def __init__(self, directory: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self._files = FileStore(directory or default_directory() / "native", most_bytes)

    def path(self, network: Network, target: Target) -> Path:
        """The file of a network for a processor."""
        return self._files.directory / _name(network, target)

    def get(self, network: Network, target: Target) -> Compiled | None:
        """What is stored for a network and a processor that this machine can stand in for."""
        name = _name(network, target)
        data = self._files.get(name) if target.runs_here() else None
        if data is None:
            return None
        try:
            return from_bytes(data)
        except ValueError as error:
            log.warning("%s is not used: %s", name, error)
            return None

    def put(self, network: Network, target: Target, straight: Straight, objects: dict[int, bytes]) -> None:
        """Store what is compiled of a network."""
        self._files.put(_name(network, target), to_bytes(straight, objects))


def _name(network: Network, target: Target) -> str:
    version = f"{codegen.VERSION}/{layout.VERSION}/{target.name}"
    return hashlib.sha256(digest(network) + version.encode()).hexdigest()[:40]


def digest(network: Network) -> bytes:
    """A checksum of all of a network but its names."""
    hashed = hashlib.sha256()
    numbers = [len(network.bases), network.base_gates, network.terminal_literal, *map(len, network.moves)]
    hashed.update(json.dumps(numbers).encode())
    for field in fields(network):
        value = getattr(network, field.name)
        if isinstance(value, np.ndarray):
            hashed.update(f"{field.name} {value.dtype.str} {value.shape}".encode())
            hashed.update(np.ascontiguousarray(value).tobytes())
    return hashed.digest()


def to_bytes(straight: Straight, objects: dict[int, bytes]) -> bytes:
    """A layout and its object files as bytes."""
    arrays: dict[str, Any] = {}
    for part, owner in (("straight", straight), ("plan", straight.plan)):
        for field in fields(owner):
            value = getattr(owner, field.name)
            if not isinstance(value, Plan):
                arrays[f"{part}.{field.name}"] = np.asarray(value)
    arrays |= {f"object.{first}": np.frombuffer(data, np.uint8) for first, data in objects.items()}
    body = io.BytesIO()
    np.savez(body, **arrays)
    return body.getvalue()


def from_bytes(data: bytes) -> Compiled:
    """What :func:`to_bytes` was given. Raises ValueError where it was another version's."""
    try:
        arrays: dict[str, NDArray[Any]] = dict(np.load(io.BytesIO(data), allow_pickle=False))
    except (BadZipFile, EOFError) as error:
        raise ValueError(f"the bytes are not whole: {error}") from None

    def part(name: str, owner: type) -> dict[str, Any]:
        values = {f.name: arrays.get(f"{name}.{f.name}") for f in fields(owner)}
        return {k: v.item() if v.ndim == 0 else v for k, v in values.items() if v is not None}

    try:
        straight = Straight(**part("straight", Straight), plan=Plan(**part("plan", Plan)))
    except TypeError as error:
        raise ValueError(f"the file is of another version: {error}") from None
    objects = {
        int(name.partition(".")[2]): array.tobytes()
        for name, array in arrays.items()
        if name.startswith("object.")
    }
    return straight, objects

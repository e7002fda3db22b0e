"""Compiled networks on disk: one file per network, processor and version.

A file is written under another name and then given its own, so that readers see all of it or
nothing whoever writes at the same time; a checksum finds files that were cut short. Files that
have not been read for the longest time go first when all together grow too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propnet import codegen, straight
from propnet.assembler import Target
from propnet.network import Network
from propnet.plan import Plan
from propnet.straight import Straight

log = logging.getLogger("propnet.native")

MOST_BYTES = 1 << 30
"""How large all files together may become."""

_MAGIC = b"kaskade native 1\n"
_DIGEST = 32

Compiled = tuple[Straight, dict[int, bytes]]
"""A layout, and the object files by the first piece of each."""


def default_directory() -> Path:
    """Where the cache is: ``$GGP_CACHE``, or what the platform has for users' caches."""
    chosen = os.environ.get("GGP_CACHE")
    if chosen:
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("kaskade-ggp")


class ObjectCache:
    """A directory of compiled networks. Nothing is raised: a cache that fails only forgets.

    Args:
        directory: where; made when first needed. :func:`default_directory` if None.
        most_bytes: how large its files may become together.
    """

    def __init__(self, directory: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self.directory = directory or default_directory()
        self._most_bytes = most_bytes

    def path(self, network: Network, target: Target) -> Path:
        """The file of a network for a processor."""
        version = f"{codegen.VERSION}/{straight.VERSION}/{target.name}"
        key = hashlib.sha256(digest(network) + version.encode()).hexdigest()
        return self.directory / f"{key[:40]}.native"

    def get(self, network: Network, target: Target) -> Compiled | None:
        """What is kept for a network and a processor of this machine."""
        path = self.path(network, target)
        try:
            if not target.runs_here() or not _trusted(self.directory):
                return None
            data = path.read_bytes()
            found = from_bytes(data)
            os.utime(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("%s is not used: %s", path.name, error)
            return None
        return found

    def put(self, network: Network, target: Target, layout: Straight, objects: dict[int, bytes]) -> None:
        """Keep what is compiled of a network."""
        path = self.path(network, target)
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not _trusted(self.directory):
                log.warning("%s belongs to others: nothing is kept there", self.directory)
                return
            self._make_room()
            with tempfile.NamedTemporaryFile(dir=self.directory, prefix=".new-", delete=False) as file:
                try:
                    file.write(to_bytes(layout, objects))
                    file.flush()
                    os.replace(file.name, path)
                except BaseException:
                    os.unlink(file.name)
                    raise
        except OSError as error:
            log.warning("compiled code is not kept: %s", error)

    def _make_room(self) -> None:
        """Remove the files that were not read for the longest time, and what writers left behind."""
        found = sorted((entry.stat().st_mtime, entry.stat().st_size, entry) for entry in self._files())
        size = sum(bytes_ for _, bytes_, _ in found)
        for _, bytes_, entry in found:
            if size <= self._most_bytes:
                break
            with contextlib.suppress(OSError):
                entry.unlink()
            size -= bytes_

    def _files(self) -> list[Path]:
        return [*self.directory.glob("*.native"), *self.directory.glob(".new-*")]


def _trusted(directory: Path) -> bool:
    """Whether a directory is there, and nobody but its owner, us, can write to it: what is in it
    will be run."""
    if not hasattr(os, "getuid"):
        return directory.is_dir()
    try:
        status = directory.stat()
    except FileNotFoundError:
        return False
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


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


def to_bytes(layout: Straight, objects: dict[int, bytes]) -> bytes:
    """A layout and its object files as bytes."""
    arrays: dict[str, Any] = {}
    for part, owner in (("straight", layout), ("plan", layout.plan)):
        for field in fields(owner):
            value = getattr(owner, field.name)
            if not isinstance(value, Plan):
                arrays[f"{part}.{field.name}"] = np.asarray(value)
    arrays |= {f"object.{first}": np.frombuffer(data, np.uint8) for first, data in objects.items()}
    body = io.BytesIO()
    np.savez(body, **arrays)
    data = body.getvalue()
    return _MAGIC + hashlib.sha256(data).digest() + data


def from_bytes(data: bytes) -> Compiled:
    """What :func:`to_bytes` was given. Raises ValueError where bytes are missing or changed."""
    body = data[len(_MAGIC) + _DIGEST :]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) :][:_DIGEST]:
        raise ValueError("the file is not whole")
    arrays: dict[str, NDArray[Any]] = dict(np.load(io.BytesIO(body), allow_pickle=False))

    def part(name: str, owner: type) -> dict[str, Any]:
        found = {f.name: arrays.get(f"{name}.{f.name}") for f in fields(owner)}
        return {k: v.item() if v.ndim == 0 else v for k, v in found.items() if v is not None}

    try:
        layout = Straight(**part("straight", Straight), plan=Plan(**part("plan", Plan)))
    except TypeError as error:
        raise ValueError(f"the file is of another version: {error}") from None
    objects = {
        int(name.partition(".")[2]): array.tobytes()
        for name, array in arrays.items()
        if name.startswith("object.")
    }
    return layout, objects

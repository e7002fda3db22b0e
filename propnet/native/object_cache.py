"""LLVM as an assembler: from its assembly language to object files, and these into memory. Also compiled
networks on disk, one file per network, processor and version.

LLVM gives a vector the registers of the processor: one with AVX-512, where AND, OR and NOT of three values
are one instruction, two with AVX2, four with SSE2, and so on.

``python -m propnet.native.object_cache CPU FEATURES`` is a process that compiles texts until its input ends.
It reads each text as a line with its length in bytes, then the text, and writes object files in the same
form.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from propnet.kernels.plan import Plan
from propnet.native import codegen, layout
from propnet.native.layout import Straight
from propnet.network import Network
from propnet.private_files import default_directory
from propnet.storage.file_store import FileStore
from propnet.storage.network_bytes import pack, unpack

# (llvmlite has no types)


_OPTIMISE = 1
"""LLVM's optimisation level (see docs/measurements.md). The text is already in the order in which it should
run."""
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Target:
    """A processor to compile for.

    Attributes:
        cpu: LLVM's name of it.
        features: the features that it has and lacks, in LLVM's notation: ``+avx2,-avx512f,...``.
    """

    cpu: str
    features: str

    @property
    def name(self) -> str:
        """A text that changes with everything on which object files depend, including LLVM's version."""
        return f"{llvmlite.__version__}/{llvm.get_default_triple()}/{self.cpu}/{self.features}"

    def runs_here(self) -> bool:
        """Whether this machine has all features that the target has."""
        return _present(self.features) <= _present(host().features)


@functools.cache
def host() -> Target:
    """This machine's processor, or an older one set for numba by ``NUMBA_CPU_NAME`` and, for its additional
    features, ``NUMBA_CPU_FEATURES``."""
    if name := os.environ.get("NUMBA_CPU_NAME"):
        return Target(name, os.environ.get("NUMBA_CPU_FEATURES", ""))
    return Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def _present(features: str) -> set[str]:
    return {feature for feature in features.split(",") if feature.startswith("+")}


def compile_text(source: str, target: Target) -> bytes:
    """An object file of LLVM's assembly language. Raises RuntimeError if LLVM refuses the text."""
    with _LOCK:
        module = llvm.parse_assembly(source)
        return bytes(_shared_generator(target).emit_object(module))


class Loaded:
    """Object files in this process's memory, for the lifetime of this object.

    Raises RuntimeError if LLVM refuses one."""

    def __init__(self, objects: Sequence[bytes], target: Target) -> None:
        with _LOCK:
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_generator(target))
            for data in objects:
                self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """The address of a function; 0 if there is none of this name."""
        with _LOCK:
            return int(self._engine.get_function_address(name))


@functools.cache
def _start_llvm() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@functools.cache
def _shared_generator(target: Target) -> Any:
    return _new_generator(target)


def _new_generator(target: Target) -> Any:
    """LLVM's code generator. An engine takes ownership of its generator."""
    _start_llvm()
    triple = llvm.Target.from_default_triple()
    return triple.create_target_machine(cpu=target.cpu, features=target.features, opt=_OPTIMISE, jit=True)


def main() -> None:
    """Compile texts until the input ends."""
    target = Target(sys.argv[1], sys.argv[2])
    while size := sys.stdin.buffer.readline():
        data = compile_text(sys.stdin.buffer.read(int(size)).decode(), target)
        sys.stdout.buffer.write(b"%d\n" % len(data) + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

log = logging.getLogger("propnet.native")

MOST_BYTES = 1 << 30
"""The most bytes of all files together."""
Compiled = tuple[Straight, dict[int, bytes]]
"""A layout, and the object files by the first piece of each."""


class ObjectCache:
    """A directory of compiled networks, created at its first use (``native`` in the default directory if
    None is given), with at most ``most_bytes``. It raises nothing: a cache that fails only forgets."""

    def __init__(self, directory: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self._files = FileStore(directory or default_directory() / "native", most_bytes)

    def path(self, network: Network, target: Target) -> Path:
        """The file of a network for a processor."""
        return self._files.directory / _name(network, target)

    def get(self, network: Network, target: Target) -> Compiled | None:
        """The code stored for a network and a processor, if this machine has that processor's features."""
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
        """Store the compiled code of a network."""
        self._files.put(_name(network, target), to_bytes(straight, objects))


def _name(network: Network, target: Target) -> str:
    version = f"npz/{codegen.VERSION}/{layout.VERSION}/{target.name}"
    return hashlib.sha256(digest(network) + version.encode()).hexdigest()[:40]


def digest(network: Network) -> bytes:
    """A checksum of a network without its names."""
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
    return pack(arrays)


def from_bytes(data: bytes) -> Compiled:
    """The layout and object files that :func:`to_bytes` wrote. Raises ValueError for another version's
    bytes."""
    arrays = unpack(data)

    def part(name: str, owner: type) -> dict[str, Any]:
        values = {f.name: arrays.get(f"{name}.{f.name}") for f in fields(owner)}
        return {k: v.item() if v.ndim == 0 else v for k, v in values.items() if v is not None}

    try:
        straight = Straight(**part("straight", Straight), plan=Plan(**part("plan", Plan)))
    except TypeError as error:
        raise ValueError(f"the file was written by another version: {error}") from None
    objects = {
        int(name.partition(".")[2]): array.tobytes()
        for name, array in arrays.items()
        if name.startswith("object.")
    }
    return straight, objects

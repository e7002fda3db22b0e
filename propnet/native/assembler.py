"""LLVM as an assembler: its assembly language to object files, and these into memory.

LLVM gives a vector what the processor has: one register with AVX-512, where AND, OR and NOT of three
values are one instruction, two registers with AVX2, four with SSE2, and so on.

``python -m propnet.native.assembler CPU FEATURES PARENT`` is a process that compiles texts for its parent,
and ends with it: it reads each as a line with its length in bytes, then the text, and answers with objects
in the same form.
"""

# mypy: disallow-untyped-calls=False
# (llvmlite has no types)

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from gdl.processes import end_with

OPTIMISE = 1
"""LLVM's level (see docs/measurements.md). The text is already in the order in which it should run."""
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Target:
    """A processor to compile for.

    Attributes:
        cpu: LLVM's name of it.
        features: what it has and has not, as LLVM spells it: ``+avx2,-avx512f,...``.
    """

    cpu: str
    features: str

    @property
    def name(self) -> str:
        """What its object files depend on, LLVM's version included."""
        return f"{llvmlite.__version__}/{llvm.get_default_triple()}/{self.cpu}/{self.features}"

    def runs_here(self) -> bool:
        """Whether this machine has all features that the target has."""
        return _present(self.features) <= _present(host().features)


@functools.cache
def host() -> Target:
    """This machine's processor."""
    return Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def _present(features: str) -> set[str]:
    return {feature for feature in features.split(",") if feature.startswith("+")}


def compile_text(source: str, target: Target) -> bytes:
    """An object file of LLVM's assembly language. Raises RuntimeError where LLVM refuses it."""
    with _LOCK:
        module = llvm.parse_assembly(source)
        return bytes(_shared_generator(target).emit_object(module))


class Loaded:
    """Object files in this process's memory, until this object goes.

    Raises RuntimeError where LLVM refuses one."""

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
    """LLVM's code generator. An engine takes over the one that it is given."""
    _start_llvm()
    triple = llvm.Target.from_default_triple()
    return triple.create_target_machine(cpu=target.cpu, features=target.features, opt=OPTIMISE, jit=True)


def main() -> None:
    """Compile texts until the input ends."""
    target = Target(sys.argv[1], sys.argv[2])
    end_with(int(sys.argv[3]))
    while size := sys.stdin.buffer.readline():
        data = compile_text(sys.stdin.buffer.read(int(size)).decode(), target)
        sys.stdout.buffer.write(b"%d\n" % len(data) + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

"""A machine whose playouts run on a network with registers, from the states of the original network.

Records of states are converted into records of codes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Playouts
from gdl.rules import Rules
from propnet.jit.arrays import Int32s, Ints, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import BYTES, lowest_bit
from propnet.kernels.kernel_args import KernelArgs, Sizes
from propnet.kernels.move_weights import UNIFORM, Policy
from propnet.kernels.records import record_words
from propnet.native.machine import NativeCode, NativeMachine, native_machine
from propnet.native.object_cache import ObjectCache, digest
from propnet.network import Network
from propnet.private_files import default_directory
from propnet.recoding.coding import Coding, ExclusiveGroup
from propnet.recoding.registers import SAVED, register_coding, with_registers
from propnet.storage.file_store import FileStore
from propnet.storage.network_bytes import from_bytes, to_bytes


@kernel
def encode(records: Words, starts: Ints, widths: Ints, codes: Ints, coded: Words) -> bool:
    """Write the codes of records, uint64 (n, words), to ``coded``, uint64 (n, other words), 0 on entry.

    A base proposition that is true sets the bits of its code, ``codes`` (bases,), in a field of ``widths``
    (bases,) bits, at most 32, from bit ``starts`` (bases,) on. Returns False if two propositions of one field
    are true; the codes are then useless.
    """
    for row in range(records.shape[0]):
        for column in range(records.shape[1]):
            true = records[row, column]
            while true != 0:
                base = 64 * column + lowest_bit(true)
                true &= true - np.uint64(1)
                word, shift = starts[base] >> 6, np.uint64(starts[base] & 63)
                code = np.uint64(codes[base])
                field = coded[row, word] >> shift
                coded[row, word] |= code << shift
                past = np.int64(shift) + widths[base] - 64
                if past > 0:
                    inside = np.uint64(64) - shift
                    field |= coded[row, word + 1] << inside
                    coded[row, word + 1] |= code >> inside
                if field & ((np.uint64(1) << np.uint64(widths[base])) - np.uint64(1)) != 0:
                    return False
    return True


log = logging.getLogger("propnet.registers")

FASTER = 1.15
"""The factor by which playouts must be faster to be worth a second network."""

_TRIED = 1024
"""The number of playouts that are timed."""

_STORED_BYTES = 1 << 28
_VERSION = "1"
"""Changes whenever the coding of the same network would change."""


@dataclass(frozen=True)
class Encoder:
    """Converts records of states into those of a coding that has no exact groups and leaves nothing out.

    Attributes:
        words: 64-bit words of a coded record.
        starts, widths, codes: int64, shape (bases,): the first bit of each proposition's code in a record,
            the code's number of bits, and the code.
    """

    words: int
    starts: Ints
    widths: Ints
    codes: Ints

    @classmethod
    def of(cls, coding: Coding) -> Encoder:
        """The encoder of a coding."""
        starts, widths, codes = (np.zeros(coding.bases, np.int64) for _ in range(3))
        for group, start in zip(coding.all_groups, coding.starts, strict=False):
            for base, code in group.codes():
                starts[base], widths[base], codes[base] = start, group.width, code
        return cls(record_words(coding.bits), starts, widths, codes)

    def encoded(self, records: Words) -> Words | None:
        """The coded records, uint64 (n, words), of records of states, uint64 (n, other words); None if some
        state does not fit the coding."""
        coded = np.zeros((len(records), self.words), np.uint64)
        records = np.require(records, np.uint64, ["C", "A", "W"])
        return coded if encode(records, self.starts, self.widths, self.codes, coded) else None


class RegisterMachine(NativeMachine):
    """The native machine of a game, with a second machine that runs its playouts: the same playouts, faster.

    If the coding does not fit a state, this machine runs the playouts itself, from then on always.

    Attributes:
        registers: the machine of the network with registers.
        coding: the meaning of the bits of that network's states.
        encoder: converts records of this machine into those of the other; None once the coding did not fit.
    """

    def __init__(
        self,
        rules: Rules,
        network: Network,
        code: NativeCode | None,
        register_code: NativeCode | None,
        registers: Network,
        coding: Coding,
    ) -> None:
        super().__init__(rules, network, code)
        self.coding = coding
        self.encoder: Encoder | None = Encoder.of(coding)
        self.registers = NativeMachine(rules, registers, register_code)
        self.registers.kernel_args = _alike(self.kernel_args, self.registers.kernel_args, self.encoder)

    carries = False

    def __reduce__(self) -> tuple[Any, ...]:
        other = self.registers
        return RegisterMachine, (
            self.rules, self.network, self.code, other.code, other.network, self.coding
        )  # fmt: skip

    def _play(
        self,
        n: int,
        starts: Words,
        seed: int,
        max_steps: int,
        watched: int = -1,
        trace: Int32s | None = None,
        policy: Policy = UNIFORM,
        tallies: Int32s | None = None,
        counted: int = 0,
    ) -> Playouts:
        options = seed, max_steps, watched, trace, policy
        if self.encoder is not None:
            coded = self.encoder.encoded(starts)
            before = None if tallies is None else tallies.copy()
            if coded is not None:
                played = self.registers._play(n, coded, *options, tallies, counted)
                # A state that does not fit ends its playout, without goals.
                if (played.goals >= 0).all():
                    return played
            self.encoder = None
            if tallies is not None and before is not None:
                tallies[:] = before
        return super()._play(n, starts, *options, tallies, counted)


def _alike(ours: KernelArgs, theirs: KernelArgs, encoder: Encoder) -> KernelArgs:
    """Arguments of kernels with which the other network's playouts take the same turns as ours: they end and
    begin together, and the same roles rest."""
    sizes = theirs.sizes.copy()
    for name in ("flush_cost", "step_cost"):
        place = Sizes._fields.index(name)
        sizes[place] = ours.sizes[place]
    rests = ours.rests.copy()
    for rest in rests:
        keys = rest[2 : 2 + 2 * rest[1] : 2]
        bases = keys // BYTES - 1
        if (encoder.widths[bases] != 1).any():
            return theirs._replace(sizes=sizes)
        keys[:] = (1 + encoder.starts[bases]) * BYTES
    return theirs._replace(sizes=sizes, rests=rests)


def register_network(machine: NativeMachine) -> tuple[Network, Coding] | None:
    """The network with registers of a machine's network, and its coding; None if that is useless. Either
    result is stored on disk."""
    network = machine.network
    if len(network.bases) < SAVED:
        return None
    store = FileStore(default_directory() / "registers", _STORED_BYTES)
    name = hashlib.sha256(digest(network) + f"{_VERSION} {SAVED}".encode()).hexdigest()[:40]
    if (data := store.get(name)) is not None:
        try:
            return _read(data, network) if data else None
        except (GdlError, ValueError) as error:
            log.warning("%s is not used: %s", name, error)
    found = None
    coding = register_coding(machine)
    if coding is not None:
        try:
            found = with_registers(network, coding), coding
        except TooLargeError as error:
            log.info("playouts without registers: %s", error)
    store.put(name, register_bytes(*found) if found else b"")
    return found


def register_bytes(network: Network, coding: Coding) -> bytes:
    """A network with registers and its coding, for :func:`read_registers`."""
    groups = [list(group.members) for group in coding.groups]
    return json.dumps(groups).encode() + b"\n" + to_bytes(network)


def read_registers(data: bytes) -> tuple[Network, Coding]:
    """The network and coding in bytes of :func:`register_bytes`. Raises GdlError or ValueError for others."""
    head, _, body = data.partition(b"\n")
    groups = tuple(ExclusiveGroup(tuple(members)) for members in json.loads(head))
    return from_bytes(body), Coding(sum(len(group.members) for group in groups), groups)


def _read(data: bytes, network: Network) -> tuple[Network, Coding]:
    """The same, with the roles and moves of a network: games that differ only in names share a file."""
    stored, coding = read_registers(data)
    if coding.bases != len(network.bases) or coding.bits != len(stored.bases):
        raise ValueError("the file is of another game")
    return replace(stored, roles=network.roles, moves=network.moves), coding


def with_register_playouts(
    machine: NativeMachine, *, seconds: float = float("inf"), cache: ObjectCache | None = None
) -> NativeMachine:
    """The machine with playouts on a network with registers, compiled here within ``seconds``, if the game
    has one that makes them faster; otherwise the machine itself."""
    found = register_network(machine) if machine.compiled else None
    if found is None:
        return machine
    network, coding = found
    code = native_machine(machine.rules, network, seconds=seconds, cache=cache).code
    other = RegisterMachine(machine.rules, machine.network, machine.code, code, network, coding)
    return other if FASTER * _seconds(other) <= _seconds(machine) else machine


def _seconds(machine: NativeMachine) -> float:
    """CPU time of some playouts: the shorter of two."""
    shortest = float("inf")
    for seed in range(2):
        before = time.thread_time()
        machine.playouts(_TRIED, seed)
        shortest = min(shortest, time.thread_time() - before)
    return shortest

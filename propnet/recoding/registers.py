"""Playouts on a network that keeps wide exclusive groups as codes: 7 bits in place of 81 propositions.

If states have thousands of propositions, a step goes through more memory than the processor's caches hold.
Most of these propositions belong to groups of which at most one is true, as in ``(connected ? a 1)``: the
group is a *register*. Its members mostly stay as they are, or all give way to one that is the same for many
registers.

Nothing proves that a group is exclusive. A playout in which one is not ends at once, without goals, and
:class:`RegisterMachine` plays again on the original network. Few gates detect it: they test whether the true
member stays while another one comes, and ignore whether both are the same.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from gdl.errors import TooLargeError
from gdl.machine import Playouts
from gdl.rules import Rules
from propnet.analysis.ternary import constant_bases
from propnet.jit.arrays import Int32s, Ints, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import BYTES, lowest_bit
from propnet.kernels.kernel_args import Sizes
from propnet.kernels.records import record_words, unpack
from propnet.kernels.weighted_choice import UNIFORM, Policy
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeCode, NativeMachine, native_machine
from propnet.native.object_cache import ObjectCache
from propnet.network import Network
from propnet.passes.circuit import FALSE, Circuit
from propnet.passes.simplify import Product, sum_of_products
from propnet.private_files import default_directory
from propnet.recoding.coding import CodeGates, Coding, ExclusiveGroup
from propnet.recoding.find import groups_of
from propnet.recoding.recoded import Recoding
from propnet.recoding.samples import sample_states
from propnet.rests import rests
from propnet.storage.file_store import FileStore
from propnet.storage.network_bytes import from_bytes, to_bytes

log = logging.getLogger("propnet.registers")

FEWEST = 24
"""The fewest members of a register."""

SAVED = 2_000
"""The bits of a state that registers must save."""

FASTER = 1.15
"""The factor by which playouts must be faster to be worth a second network."""

_SAMPLES, _MATCHES = 2048, 16
"""States that are sampled, and matches from which they are taken."""

_MOST_PRODUCTS = 100_000
"""The most literals of products that are visited for one register."""

_TRIED = 1024
"""The number of playouts that are timed."""

_STORED_BYTES = 1 << 28
_VERSION = "2"
"""Changes whenever the coding of the same network would change."""


class RegisterMachine(NativeMachine):
    """The native machine of a game, with a second machine that runs its playouts: the same playouts, faster.

    If the coding does not fit a state, this machine runs the playouts itself, from then on always.

    Attributes:
        registers: the machine of the network with registers.
        coding: the meaning of the bits of that network's states.
        fits: whether the coding has fitted all states so far.
    """

    carries = False

    def __init__(
        self,
        rules: Rules,
        network: Network,
        code: NativeCode | None,
        registers: Network,
        register_code: NativeCode | None,
        coding: Coding,
    ) -> None:
        super().__init__(rules, network, code)
        self.registers = NativeMachine(rules, registers, register_code)
        self.coding, self.fits = coding, True
        self._group, self._code = np.zeros(coding.bases, np.int64), np.zeros(coding.bases, np.int64)
        self._starts = np.array(coding.starts, np.int64)
        for number, group in enumerate(coding.all_groups):
            for base, code_of_base in group.codes():
                self._group[base], self._code[base] = number, code_of_base
        # The same turns as in playouts of this machine: they end and begin together, and the same roles rest.
        sizes, resting = self.registers.kernel_args.sizes.copy(), self.kernel_args.rests.copy()
        for name in ("flush_cost", "step_cost"):
            place = Sizes._fields.index(name)
            sizes[place] = self.kernel_args.sizes[place]
        for row in resting:
            keys = row[2 : 2 + 2 * row[1] : 2]
            keys[:] = (1 + self._starts[self._group[keys // BYTES - 1]]) * BYTES
        self.registers.kernel_args = self.registers.kernel_args._replace(sizes=sizes, rests=resting)

    def __reduce__(self) -> tuple[Any, ...]:
        other = self.registers
        return RegisterMachine, (
            self.rules, self.network, self.code, other.network, other.code, self.coding
        )  # fmt: skip

    def encoded(self, records: Words) -> Words | None:
        """The records of the other machine for records of this one, uint64 (n, words); None if some state
        does not fit the coding."""
        coded = np.zeros((len(records), record_words(self.coding.bits)), np.uint64)
        records = np.require(records, np.uint64, ["C", "A", "W"])
        taken = np.full(len(self._starts), -1)
        return coded if _encode(records, self._group, self._code, self._starts, taken, coded) else None

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
        if self.fits and (coded := self.encoded(starts)) is not None:
            before = None if tallies is None else tallies.copy()
            played = self.registers._play(n, coded, *options, tallies, counted)
            # A state that does not fit ends its playout, without goals.
            if (played.goals >= 0).all():
                return played
            if tallies is not None and before is not None:
                tallies[:] = before
        self.fits = False
        return super()._play(n, starts, *options, tallies, counted)


@kernel
def _encode(records: Words, group: Ints, codes: Ints, starts: Ints, taken: Ints, coded: Words) -> bool:
    """Write the codes of records, uint64 (n, words), to ``coded``, uint64 (n, other words), 0 on entry.

    A base proposition that is true sets the bits of its code, ``codes`` (bases,), from bit ``starts[group]``
    on. ``taken``, -1 on entry, has a place for each group. Returns False if two propositions of one group are
    true; the codes are then useless.
    """
    for row in range(records.shape[0]):
        for column in range(records.shape[1]):
            true = records[row, column]
            while true != 0:
                base = 64 * column + lowest_bit(true)
                true &= true - np.uint64(1)
                if taken[group[base]] == row:
                    return False
                taken[group[base]] = row
                bit, code = starts[group[base]], codes[base]
                while code != 0:
                    coded[row, bit >> 6] |= np.uint64(code & 1) << np.uint64(bit & 63)
                    bit, code = bit + 1, code >> 1
    return True


def with_registers(
    machine: NativeMachine, *, seconds: float = float("inf"), cache: ObjectCache | None = None
) -> NativeMachine:
    """The machine with playouts on a network with registers, compiled here within ``seconds``, if the game
    has one that makes them faster; otherwise the machine itself."""
    if not machine.compiled or len(machine.network.bases) < SAVED:
        return machine
    # The search for registers takes seconds, so either result is stored.
    store = FileStore(default_directory() / "registers", _STORED_BYTES)
    name = hashlib.sha256(f"{_VERSION} {SAVED}".encode() + to_bytes(machine.network)).hexdigest()[:40]
    data = store.get(name)
    if data is None:
        data = _found(machine)
        store.put(name, data)
    if not data:
        return machine
    network, coding = read_registers(data)
    code = native_machine(machine.rules, network, seconds=seconds, cache=cache).code
    other = RegisterMachine(machine.rules, machine.network, machine.code, network, code, coding)
    return other if FASTER * _seconds(other) <= _seconds(machine) else machine


def _found(machine: NativeMachine) -> bytes:
    """The network with registers and its coding, for :func:`read_registers`; empty if they save little."""
    coding = register_coding(machine)
    if coding is None:
        return b""
    try:
        return register_bytes(RegisterRecoding(machine.network, coding).recoded(), coding)
    except TooLargeError as error:
        log.info("playouts without registers: %s", error)
        return b""


def register_bytes(network: Network, coding: Coding) -> bytes:
    """A network with registers and its coding, for :func:`read_registers`."""
    return json.dumps([group.members for group in coding.groups]).encode() + b"\n" + to_bytes(network)


def read_registers(data: bytes) -> tuple[Network, Coding]:
    """The network and coding in bytes of :func:`register_bytes`."""
    head, _, body = data.partition(b"\n")
    groups = tuple(ExclusiveGroup(tuple(members)) for members in json.loads(head))
    return from_bytes(body), Coding(sum(len(group.members) for group in groups), groups)


def _seconds(machine: NativeMachine) -> float:
    """CPU time of some playouts: the shorter of two."""
    times = [time.thread_time()]
    for seed in range(2):
        machine.playouts(_TRIED, seed)
        times.append(time.thread_time())
    return float(np.diff(times).min())


def register_coding(machine: PropnetMachine) -> Coding | None:
    """A coding with registers if samples of states suggest wide groups, with all other propositions
    unchanged. None if that would save little."""
    network = machine.network
    bits = unpack(sample_states(machine, count=_SAMPLES, matches=_MATCHES), len(network.bases))
    candidates = ~constant_bases(network)
    # Kernels read by single bits whose turn it is.
    candidates[[literal // 2 - 1 for rest in rests(network) if rest for literal in rest.keys]] = False
    found = groups_of(network.bases, bits, np.flatnonzero(candidates))
    # A register may be empty, even if no sample has it empty.
    registers = [ExclusiveGroup(group.members) for group in found if len(group.members) >= FEWEST]
    if sum(len(group.members) - group.width for group in registers) < SAVED:
        return None
    inside = {base for group in registers for base in group.members}
    single = [ExclusiveGroup((base,)) for base in range(len(network.bases)) if base not in inside]
    return Coding(len(network.bases), (*registers, *single))


class _LineGates(CodeGates):
    """A builder of gates that reads members of registers as ANDs of two *lines*, each the AND of half of the
    bits. More gates share a line than a member."""

    def __init__(self, first_gate: int) -> None:
        super().__init__(first_gate)
        self.lines: dict[int, tuple[int, ...]] = {}

    def conjunction(self, literals: Iterable[int]) -> int:
        return super().conjunction([y for x in literals for y in self.lines.get(x, (x,))])

    def add_group(self, bits: list[int], codes: list[int], none: bool) -> list[int]:
        if len(codes) < FEWEST:
            return super().add_group(bits, codes, none)
        decoded = []
        for code in codes:
            read = [x ^ 1 ^ (code >> bit & 1) for bit, x in enumerate(bits)]
            half = len(bits) // 2
            lines = self.conjunction(read[:half]), self.conjunction(read[half:])
            decoded.append(super().conjunction(lines))
            self.lines[decoded[-1]] = lines
        return decoded


class RegisterRecoding(Recoding):
    """Builds a network with registers: moves, their ids, goals and the end of the match are the same, but a
    state that does not fit the coding is terminal and has no goals."""

    builder: _LineGates

    def __init__(self, network: Network, coding: Coding) -> None:
        super().__init__(network, coding)
        self.builder = _LineGates(self.shape.first_gate)

    def circuit(self) -> Circuit:
        circuit, shape = super().circuit(), self.shape
        broken = 2 * (1 + self.coding.broken_bit)
        outputs, terminal = circuit.outputs, shape.first_cut_output - 1
        for goal in range(shape.first_goal_output, terminal):
            outputs[goal] = self.builder.conjunction([outputs[goal], broken ^ 1])
        outputs[terminal] = self.builder.disjunction([outputs[terminal], broken])
        return circuit

    def _encoded(
        self, group: ExclusiveGroup, following: list[int], start: int
    ) -> tuple[list[int], list[Product]]:
        if len(group.members) < FEWEST:
            return super()._encoded(group, following, start)
        builder = self.builder
        conditions: dict[int, list[int]] = {}
        come: list[tuple[Product, int]] = []
        literals = 0
        for base, code in group.codes():
            own = 2 * (1 + base)
            for product in self._products(int(self.network.next_literals[base])):
                literals += len(product)
                if own in product:
                    rest = builder.conjunction([self.literal(x) for x in product if x != own])
                    conditions.setdefault(base, []).append(rest)
                elif (whole := builder.conjunction(map(self.literal, product))) != FALSE:
                    come.append((self._inputs(whole), code))
        if literals * group.width > _MOST_PRODUCTS:
            raise TooLargeError("a register has too many ways to change")
        stays = self._stays(group, {base: builder.disjunction(rests) for base, rests in conditions.items()})
        bits: list[int] = []
        faults: list[Product] = []
        for bit in range(group.width):
            place = 2 * (1 + start + bit)
            one = sum_of_products(builder, [p for p, code in come if code >> bit & 1])
            bits.append(builder.disjunction([builder.conjunction([place, stays]), one]))
            zero = sum_of_products(builder, [p for p, code in come if not code >> bit & 1])
            faults.append((builder.conjunction([one, zero]),))
        some = builder.disjunction([2 * (1 + start + bit) for bit in range(group.width)])
        faults.append((builder.conjunction([some, stays, sum_of_products(builder, [p for p, _ in come])]),))
        return bits, faults

    def _stays(self, group: ExclusiveGroup, stay_of: dict[int, int]) -> int:
        """A literal for "the true member of a group, if any, stays", given the literals for each member."""
        builder = self.builder
        cases = [(self.literal(2 * (1 + base)), stay_of.get(base, FALSE)) for base in group.members]
        # Gates elsewhere may test the opposite, whether the member goes, which this test can then share.
        negate = int(
            any(tuple(sorted((*builder.lines.get(x, (x,)), stay ^ 1))) in builder.index for x, stay in cases)
        )
        products = [self._inputs(builder.conjunction([x, stay ^ negate])) for x, stay in cases]
        return sum_of_products(builder, [p for p in products if p != (FALSE,)]) ^ negate

    def _inputs(self, literal: int) -> Product:
        """A literal as a product."""
        return (
            self.builder.lines.get(literal)
            or (() if literal & 1 else self.builder.inputs_of(literal))
            or (literal,)
        )

    def _products(self, x: int) -> list[list[int]]:
        """A literal of the network as an OR of products, by its gate and the gates below."""
        first = self.network.first_gate
        if x == FALSE:
            return []
        if x & 1 and x >> 1 >= first:
            return [self._inputs_of(y ^ 1) for y in self.reads[(x >> 1) - first]]
        return [self._inputs_of(x)]

    def _inputs_of(self, x: int) -> list[int]:
        first = self.network.first_gate
        return [x] if x & 1 or x >> 1 < first else self.reads[(x >> 1) - first]

"""A machine over a recoded network, and the conversion of its records from and to those of the original
machine.

The recoded network has decoders before its gates and encoders after its next literals.

Nothing proves that a coding fits the game. So a recoded network has one more base proposition, *broken*. Its
next value is true if the following state does not fit. As long as no record has it, all records are right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gdl.terms import Term
from propnet.guides import PASSES
from propnet.jit.arrays import Words
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Circuit, Shape, remove_dead
from propnet.passes.finish import finish
from propnet.passes.simplify import Product, sum_of_products
from propnet.recoding.coding import Codec, CodeGates, Coding, ExclusiveGroup, products_of

MOST_INPUTS = 200_000
"""A circuit with more gate inputs is left as it is."""

WIDE = 4
"""Codes of at least this number of bits are combined from halves."""

_AGREEING = 4
"""Two ORs of products that must not be true together are multiplied out if at most this number of products
remain."""


def recode(network: Network, coding: Coding) -> Network:
    """The network over the bits of a coding; moves, their ids, goals and the end of the match are the same.

    Its base propositions are ``(bit 0)``, ``(bit 1)`` and so on, and last ``(broken)``, which nothing reads.
    It is true in a state in which a group of the coding had more than one true member, or none although the
    group is exact, or in which a proposition that is left out has changed. The other propositions of such a
    state are useless. The initial state is the network's; broken, if it does not fit.

    Raises ValueError for a coding of another number of base propositions.
    """
    if coding.bases != len(network.bases):
        raise ValueError(f"a coding of {coding.bases} base propositions for {len(network.bases)}")
    return Recoding(network, coding).recoded()


class Recoding:
    """Builds the gates of a recoded network. In loops it cuts the gates that are read before they are
    evaluated."""

    def __init__(self, network: Network, coding: Coding) -> None:
        self.network, self.coding = network, coding
        start, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()
        self.reads: list[list[int]] = [inputs[a:b] for a, b in pairwise(start)]
        self.cuts = self._cuts()
        moves = tuple(map(len, network.moves))
        self.shape = Shape(coding.bits, moves, len(network.goals), len(self.cuts))
        self.builder = CodeGates(self.shape.first_gate)
        self.literal_of = [TRUE] + [TRUE if value else FALSE for value in network.initial.tolist()]
        self.literal_of += [2 * (self.shape.first_move + move) for move in range(network.move_count)]
        # A cut rises from false; the gate for which it stands may fall from true.
        self.cut_literals = {
            gate: 2 * (self.shape.first_cut + number) ^ int(network.loop_init[gate])
            for gate, number in self.cuts.items()
        }

    def recoded(self) -> Network:
        """The network over the bits of the coding."""
        network, coding = self.network, self.coding
        circuit = remove_dead(self.circuit())
        if circuit.gate_inputs <= MOST_INPUTS:
            for rewrite in PASSES:
                circuit = rewrite(circuit)
        initial = Codec(coding, network.initial).encode(np.asarray(network.initial, np.bool_)[None, :])[0]
        names = (*(Term("bit", Term(str(bit))) for bit in range(coding.broken_bit)), Term("broken"))
        goals = [(role, value) for role, value, _ in network.goals.tolist()]
        return finish(circuit, replace(network, bases=names, initial=initial), goals, dict(network.stats))

    def _cuts(self) -> dict[int, int]:
        """The gates that are read before they are evaluated, each with its number among these gates."""
        first = self.network.first_gate
        early = {
            (x >> 1) - first
            for low, high in self.network.loops.tolist()
            for gate in range(low, high)
            for x in self.reads[gate]
            if gate <= (x >> 1) - first < high
        }
        return {gate: number for number, gate in enumerate(sorted(early))}

    def circuit(self) -> Circuit:
        network, shape, builder, coding = self.network, self.shape, self.builder, self.coding
        first, init = network.first_gate, network.loop_init
        for group, start in zip(coding.all_groups, coding.starts, strict=False):
            places = [2 * (1 + start + bit) for bit in range(group.width)]
            decoded = builder.add_group(places, [code for _, code in group.codes()], not group.exact)
            for base, member in zip(group.members, decoded, strict=True):
                self.literal_of[1 + base] = member
        for gate in self.reads:
            self.literal_of.append(builder.conjunction(map(self.literal, gate)))
        following = list(map(self.literal, network.next_literals.tolist()))
        bits: list[int] = []
        faults: list[Product] = [
            (following[base] ^ 1 ^ self.literal_of[1 + base],) for base in coding.left_out
        ]
        for group, start in zip(coding.all_groups, coding.starts, strict=False):
            more, fault = self._encoded(group, following, start)
            bits += more
            faults += fault
        definitions = [self.literal_of[first + gate] ^ int(init[gate]) for gate in self.cuts]
        outputs = [
            *bits,
            sum_of_products(builder, [p for p in faults if FALSE not in p]),
            *map(self.literal, network.legal_literals.tolist()),
            *map(self.literal, network.goals[:, 2].tolist()),
            self.literal(int(network.terminal_literal)),
            *definitions,
        ]
        return Circuit(shape, builder.gates, outputs)

    def literal(self, x: int) -> int:
        """The new literal of a literal of the network."""
        node = x >> 1
        if node < len(self.literal_of):
            return self.literal_of[node] ^ (x & 1)
        return self.cut_literals[node - self.network.first_gate] ^ (x & 1)

    def _encoded(
        self, group: ExclusiveGroup, following: list[int], start: int
    ) -> tuple[list[int], list[Product]]:
        """The next values of a group's bits, which begin at ``start``, and products that are true if the
        group does not fit."""
        builder, width = self.builder, group.width
        if len(group.members) == 1 and not group.exact:
            return [following[group.members[0]]], []
        bits: list[int] = []
        faults: list[Product] = []
        members = [(following[base], code) for base, code in group.codes()]
        for number, (one, zero) in enumerate(self._sums(width, members)):
            bits.append(one)
            # Two members that are both true differ in some bit; if no member is true, no bit has a value.
            faults += self._both(one, zero)
            if group.exact and number == 0:
                faults.append((builder.conjunction([one ^ 1, zero ^ 1]),))
        if group.exact and not width:
            faults.append((following[group.members[0]] ^ 1,))
        return bits, faults

    def _sums(self, width: int, members: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Per bit whether a member, each a literal and its code, will be true whose code has the bit, and
        whether one whose code lacks it; for wide codes by the codes' halves first."""
        builder = self.builder
        if width < WIDE:
            parts = [(range(width), members)]
        else:
            half = width // 2
            halves = []
            for low, high in ((0, half), (half, width)):
                same: dict[int, list[int]] = {}
                for x, code in members:
                    same.setdefault(code >> low & (1 << high - low) - 1, []).append(x)
                sums = [(builder.disjunction(own), part << low) for part, own in sorted(same.items())]
                halves.append((range(low, high), sums))
            parts = halves
        return [
            (
                builder.disjunction([x for x, code in sums if code >> bit & 1]),
                builder.disjunction([x for x, code in sums if not code >> bit & 1]),
            )
            for bits, sums in parts
            for bit in bits
        ]

    def _both(self, one: int, other: int) -> list[Product]:
        """Products whose OR is the AND of two literals: of their own products, if few of these are
        compatible."""
        builder = self.builder
        first, second = products_of(builder, one), products_of(builder, other)
        if len(first) * len(second) <= _AGREEING**2:
            common = {builder.conjunction((*p, *q)) for p in first for q in second} - {FALSE}
            if len(common) <= _AGREEING:
                return [(x,) if x & 1 else builder.inputs_of(x) or (x,) for x in sorted(common)]
        return [tuple(sorted((one, other)))]


@dataclass(frozen=True, slots=True)
class Recoded:
    """A game whose states are records of few bits.

    ``key_mask`` removes the step clocks of the coding (:func:`propnet.analysis.cones.step_clocks`). States
    that differ only in these have the same moves, and their successors differ only in these. But the end of
    the match, and so the goals, may depend on them. A search that masks them must evaluate states that end
    with the clocks on. It must start again with clocks in the key if only the clock ended a line.

    Attributes:
        machine: the machine over the recoded network; moves and their ids are the same.
        coding: the meaning of the bits. A record that has its ``broken_bit``, and all that follow from it,
            are useless: the coding does not fit the game.
        key_mask, clock_mask: uint64, shape (words,): the bits of a record in the key, and in the clocks.
        codec: converts the bits of single states into codes.
    """

    machine: PropnetMachine
    coding: Coding
    key_mask: Words
    clock_mask: Words
    codec: Codec

    @classmethod
    def of(cls, machine: PropnetMachine, coding: Coding) -> Recoded:
        """Recode a machine's network. Raises ValueError for a coding of another number of propositions."""
        bit = np.arange(coding.bits)
        return cls(
            machine=PropnetMachine(machine.rules, recode(machine.network, coding)),
            coding=coding,
            key_mask=pack((bit < coding.key_bits)[None, :])[0],
            clock_mask=pack(((bit >= coding.key_bits) & (bit < coding.broken_bit))[None, :])[0],
            codec=Codec(coding, machine.network.initial),
        )

    def encode(self, records: Words) -> Words:
        """The records, uint64 (n, machine.words), of states of the original machine, uint64
        (n, words of that machine). States that do not fit have the broken bit."""
        return pack(self.codec.encode(unpack(records, self.coding.bases)))

    def decode(self, coded: Words) -> Words:
        """The original machine's records of records of this one; any record for those with the broken bit."""
        return pack(self.codec.decode(unpack(coded, self.coding.bits)))

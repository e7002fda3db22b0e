"""Networks for playouts that keep wide exclusive groups as codes: 7 bits in place of 81 propositions.

If states have thousands of propositions, a step goes through more memory than the processor's caches hold.
Most of these propositions belong to groups of which at most one is true, as in ``(connected ? a 1)``: the
group is a *register*. Its members mostly stay as they are, or all give way to one that is the same for many
registers.

Nothing proves that a group is exclusive. A playout in which a group is not exclusive ends at once, without
goals. The caller of playouts must check for that, and play again on the original network. Only few gates
detect it: they test whether the true member stays while another one comes, and ignore whether both are the
same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gdl.errors import TooLargeError
from propnet.analysis.ternary import constant_bases
from propnet.guides import PASSES
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE, Circuit, remove_dead
from propnet.passes.finish import finish
from propnet.passes.simplify import Product, sum_of_products
from propnet.recoding.coding import Codec, CodeGates, Coding, ExclusiveGroup
from propnet.recoding.find import groups_of
from propnet.recoding.recoded import Recoding, names_of
from propnet.recoding.samples import sample_states

FEWEST = 24
"""The fewest members of a register."""

SAVED = 2_000
"""The bits of a state that registers must save."""

_SAMPLES, _MATCHES = 2048, 16
"""States that are sampled, and matches from which they are taken."""

_MOST_PRODUCTS = 100_000
"""The most literals of products that are visited for one register."""


def register_coding(machine: PropnetMachine) -> Coding | None:
    """A coding with registers if samples of states suggest wide groups, with all other propositions
    unchanged. None if that would save little."""
    network = machine.network
    bases = len(network.bases)
    if bases < SAVED:
        return None
    bits = unpack(sample_states(machine, count=_SAMPLES, matches=_MATCHES), bases)
    candidates = np.flatnonzero(~constant_bases(network))
    found = groups_of(network.bases, bits, candidates)
    wide = [group for group in found if len(group.members) >= FEWEST]
    # A register may be empty, even if no sample has it empty.
    registers = [ExclusiveGroup(group.members) for group in wide]
    if sum(len(group.members) - group.width for group in registers) < SAVED:
        return None
    inside = {base for group in registers for base in group.members}
    single = [ExclusiveGroup((base,)) for base in range(bases) if base not in inside]
    return Coding(bases, (*registers, *single))


def with_registers(network: Network, coding: Coding) -> Network:
    """The network over the bits of a coding. Moves, their ids, goals and the end of the match are the same,
    but a state that does not fit the coding is terminal and has no goals.

    Its base propositions are named as those of :func:`propnet.recoding.recoded.recode`.
    """
    circuit = remove_dead(_Registers(network, coding).circuit())
    for rewrite in PASSES:
        circuit = rewrite(circuit)
    initial = Codec(coding, network.initial).encode(np.asarray(network.initial, np.bool_)[None, :])[0]
    goals = [(role, value) for role, value, _ in network.goals.tolist()]
    new = replace(network, bases=names_of(coding), initial=initial)
    return finish(circuit, new, goals, dict(network.stats))


def _apart(codes: list[int], sources: list[dict[int, int]]) -> bool:
    """Whether products of different codes exclude each other, because all of them need different members of
    one register. ``sources`` holds for each product its members of registers, by the register's number."""
    for register in sources[0] if sources else ():
        if all(register in source for source in sources):
            code_of: dict[int, int] = {}
            members = [source[register] for source in sources]
            if all(code_of.setdefault(x, code) == code for x, code in zip(members, codes, strict=True)):
                return True
    return not sources


class _LineGates(CodeGates):
    """A builder of gates that reads members of registers as ANDs of two *lines*, each the AND of half of the
    bits. More gates share a line than a member."""

    def __init__(self, first_gate: int) -> None:
        super().__init__(first_gate)
        self.lines: dict[int, tuple[int, ...]] = {}

    def conjunction(self, literals: Iterable[int]) -> int:
        return super().conjunction([y for x in literals for y in self.lines.get(x, (x,))])

    def member(self, lines: tuple[int, int]) -> int:
        """The literal of a register's member that is the AND of these lines."""
        literal = super().conjunction(lines)
        self.lines[literal] = lines
        return literal


class _Registers(Recoding):
    """Builds the gates of a network with registers."""

    builder: _LineGates

    def __init__(self, network: Network, coding: Coding) -> None:
        super().__init__(network, coding)
        self.builder = _LineGates(self.shape.first_gate)
        # The network's literals that are members of registers, each with the number of its register.
        self.register_of = {
            2 * (1 + base): number
            for number, group in enumerate(coding.all_groups)
            if len(group.members) >= FEWEST
            for base in group.members
        }

    def circuit(self) -> Circuit:
        circuit, shape = super().circuit(), self.shape
        broken = 2 * (1 + self.coding.broken_bit)
        outputs = circuit.outputs
        for goal in range(shape.first_goal_output, shape.first_cut_output - 1):
            outputs[goal] = self.builder.conjunction([outputs[goal], broken ^ 1])
        terminal = shape.first_cut_output - 1
        outputs[terminal] = self.builder.disjunction([outputs[terminal], broken])
        return circuit

    def _decoded(self, group: ExclusiveGroup, places: list[int]) -> list[int]:
        if len(group.members) < FEWEST:
            return super()._decoded(group, places)
        builder, half = self.builder, len(places) // 2

        def line(code: int, low: int, high: int) -> int:
            return builder.conjunction([places[bit] ^ 1 ^ (code >> bit & 1) for bit in range(low, high)])

        return [
            builder.member((line(code, 0, half), line(code, half, len(places)))) for _, code in group.codes()
        ]

    def _encoded(
        self, group: ExclusiveGroup, following: list[int], start: int
    ) -> tuple[list[int], list[Product]]:
        if len(group.members) < FEWEST:
            return super()._encoded(group, following, start)
        builder = self.builder
        conditions: dict[int, list[int]] = {}
        come: list[tuple[Product, int]] = []
        sources: list[dict[int, int]] = []
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
                    sources.append({self.register_of[x]: x for x in product if x in self.register_of})
        if literals * group.width > _MOST_PRODUCTS:
            raise TooLargeError("a register has too many ways to change")
        stays = self._stays(group, {base: builder.disjunction(rests) for base, rests in conditions.items()})
        apart = _apart([code for _, code in come], sources)
        bits: list[int] = []
        faults: list[Product] = []
        for bit in range(group.width):
            place = 2 * (1 + start + bit)
            one = sum_of_products(builder, [p for p, code in come if code >> bit & 1])
            bits.append(builder.disjunction([builder.conjunction([place, stays]), one]))
            if not apart:
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
        existing = sum(tuple(sorted((*builder.lines[x], stay ^ 1))) in builder.index for x, stay in cases)
        negate = int(existing > 0)
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

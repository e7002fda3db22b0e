"""A network laid out for straight-line code: gates depth first in pieces, values in few wires.

Three things make native code faster than a walk over gates level by level. A value that is read soon stays in
a register. A wire is reused after its value has been read for the last time, so that a step's working set is
small. And the moves' legality ends in the wires in which the choice of moves reads it. The interpreter's
kernels run the same layout, piece by piece, as long as there is no native code for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from gdl.errors import TooLargeError
from propnet.jit.arrays import Flags, Int32s, Ints
from propnet.jit.vector512 import BYTES
from propnet.kernels.plan import BLOCK, GOALS, MOVES, PLAY, RUN, Plan, complete_plan
from propnet.network import Network

VERSION = 2
"""Changes whenever the layout of the same network would change."""
PIECE = 64
"""Gates per piece. Larger pieces keep more values in registers, but take longer to compile."""
_PIECE_INPUTS = 256
"""Gate inputs after which a piece ends."""
WIDE = 16
"""Gates with more inputs are computed in several steps, so that few inputs are held at once."""


@dataclass(frozen=True)
class Straight:
    """The gates of a network as a program. Wire 0 is true. Base propositions and moves follow as in the
    network, then wires that are reused.

    Attributes:
        start: int32 (gates + 1,): gate g reads ``literals[start[g]:start[g + 1]]``.
        literals: int32: ``2 * wire + negated``.
        out: int32 (gates,): the wire that takes the AND of a gate's literals.
        stored: bool (gates,): whether other pieces, or the kernels, read it.
        pieces: int32 (pieces, 3): section, first gate, past-the-last gate; first the pieces of PLAY, then of
            GOALS, then of MOVES. The other sections read the values that PLAY's gates leave; those of MOVES
            do not change these.
        loops: bool (pieces,): whether a piece is a loop, which must be evaluated to its fixpoint.
        plan: the layout for the kernels, with nothing to interpret
            (:mod:`propnet.native.codegen` adds that).
    """

    start: Int32s
    literals: Int32s
    out: Int32s
    stored: Flags
    pieces: Int32s
    loops: Flags
    plan: Plan


def straighten(network: Network) -> Straight:
    """The layout of a network. Raises TooLargeError past the reach of wire offsets."""
    program = _Program(network)
    program.run()
    return program.laid_out()


class _Program:
    """The gates in their new order, which grows. Until the wires are known, literals are the network's.
    Gates that the network lacks have further node numbers."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.first = network.first_gate
        literals = network.gate_inputs.tolist()
        bounds = pairwise(network.gate_start.tolist())
        self.inputs: list[list[int]] = [literals[low:high] or [0] for low, high in bounds]
        self.loop_of = [-1] * network.gates
        for low, high in network.loops.tolist():
            self.loop_of[low:high] = [low] * (high - low)
        self.loop_end = dict(network.loops.tolist())
        self._split_wide_gates()
        self.done = bytearray(len(self.inputs))
        self.order: list[int] = []
        self.section_ends: list[int] = []
        self.fixed: dict[int, int] = {}  # the gates that write a move's wire
        self.next_literals: list[int] = network.next_literals.tolist()

    def run(self) -> None:
        """Order the gates: those of PLAY, of GOALS, of MOVES, each section depth first."""
        network = self.network
        legal = network.legal_literals.tolist()
        goals = network.goals.reshape(-1, 3)[:, 2].tolist()
        first_play = self._cone([*legal, network.terminal_literal])
        for_goals = self._cone(goals)
        percepts = network.percept_literals.tolist()
        for_next = self._cone([*self.next_literals, *percepts])
        play = bytes(p | (g & n) for p, g, n in zip(first_play, for_goals, for_next, strict=True))
        self._visit([network.terminal_literal], play)
        for move, literal in enumerate(legal):
            self._visit([literal], play)
            self._copy(literal, 1 + len(network.bases) + move)
        self._visit(range(2 * self.first, 2 * self.first + 2 * len(play), 2), play)
        self.section_ends.append(len(self.order))
        self._visit(goals, for_goals)
        self.section_ends.append(len(self.order))
        for base, literal in enumerate(self.next_literals):
            self._visit([literal], for_next)
            if 1 <= literal >> 1 <= len(network.bases) and literal >> 1 != 1 + base:
                # The other base's wire will have its own next value when this one is read.
                self.next_literals[base] = 2 * self._copy(literal, None)
        self._visit(percepts, for_next)
        self.section_ends.append(len(self.order))

    def _split_wide_gates(self) -> None:
        for gate in range(self.network.gates):
            literals = self.inputs[gate]
            if len(literals) > WIDE and self.loop_of[gate] < 0:
                for low in range(0, len(literals) - WIDE, WIDE):
                    chunk = literals[low : low + WIDE]
                    if low:
                        chunk.append(2 * (self.first + len(self.inputs) - 1))
                    self.inputs.append(chunk)
                    self.loop_of.append(-1)
                rest = low + WIDE
                self.inputs[gate] = [*literals[rest:], 2 * (self.first + len(self.inputs) - 1)]

    def _unit(self, gate: int) -> Iterable[int]:
        low = self.loop_of[gate]
        return (gate,) if low < 0 else range(low, self.loop_end[low])

    def _cone(self, literals: Iterable[int]) -> bytearray:
        """The gates on which the literals depend: 1 for these, else 0."""
        first = self.first
        needed = bytearray(len(self.inputs))
        stack = [node - first for literal in literals if (node := literal >> 1) >= first]
        while stack:
            gate = stack.pop()
            if not needed[gate]:
                for member in self._unit(gate):
                    needed[member] = 1
                    for literal in self.inputs[member]:
                        below = (literal >> 1) - first
                        if below >= 0 and not needed[below]:
                            stack.append(below)
        return needed

    def _visit(self, literals: Iterable[int], within: bytes | bytearray) -> None:
        """Append the gates ``within`` that the literals need and that are not yet there, each
        after the gates that it reads."""
        first, done, inputs, loop_of = self.first, self.done, self.inputs, self.loop_of
        for root in literals:
            stack = [(root >> 1) - first]
            while stack:
                gate = stack[-1]
                if gate < 0 or done[gate] or not within[gate]:
                    stack.pop()
                    continue
                loop = loop_of[gate]
                unit = self._unit(gate)
                read = reversed(inputs[gate]) if loop < 0 else chain.from_iterable(inputs[g] for g in unit)
                below = [
                    node
                    for literal in read
                    if (node := (literal >> 1) - first) >= 0
                    and not done[node]
                    and within[node]
                    and (loop < 0 or loop_of[node] != loop)
                ]
                if below:
                    stack += below
                    continue
                for member in unit:
                    done[member] = 1
                    self.order.append(member)
                stack.pop()

    def _copy(self, literal: int, wire: int | None) -> int:
        """Append a gate that copies a literal, to ``wire`` if given. Returns its node."""
        gate = len(self.inputs)
        self.inputs.append([literal])
        self.loop_of.append(-1)
        self.done.append(1)
        self.order.append(gate)
        if wire is not None:
            self.fixed[gate] = wire
        return self.first + gate

    def _pieces(self) -> tuple[list[tuple[int, int, int]], list[bool]]:
        """The (section, first, past-the-last) of each piece, as places in the order, and whether it is a
        loop."""
        pieces: list[tuple[int, int, int]] = []
        loops: list[bool] = []
        low = 0
        for section, end in zip((PLAY, GOALS, MOVES), self.section_ends, strict=True):
            while low < end:
                loop = self.loop_of[self.order[low]]
                high = low
                if loop >= 0:
                    high += self.loop_end[loop] - loop
                else:
                    reads = 0
                    while high < end and high - low < PIECE and reads < _PIECE_INPUTS:
                        gate = self.order[high]
                        if self.loop_of[gate] >= 0:
                            break
                        reads += len(self.inputs[gate])
                        high += 1
                pieces.append((section, low, high))
                loops.append(loop >= 0)
                low = high
        return pieces, loops

    def laid_out(self) -> Straight:
        network, first, order = self.network, self.first, self.order
        pieces, loops = self._pieces()
        gates = len(order)
        gate_of = np.array(order, np.int64)
        places = np.full(len(self.inputs), -1)
        places[gate_of] = np.arange(gates)
        ordered = [self.inputs[gate] for gate in order]
        widths = np.fromiter(map(len, ordered), np.int64, gates)
        start = np.concatenate(([0], np.cumsum(widths)))
        literals = np.fromiter(chain.from_iterable(ordered), np.int64, int(start[-1]))

        def made_at(nodes: Ints) -> Ints:
            """Places in the order of the gates among these nodes."""
            of_gates: Ints = places[nodes[nodes >= first] - first]
            return of_gates

        piece_of = np.repeat(np.arange(len(pieces)), [high - low for _, low, high in pieces])
        last = piece_of.copy()
        reader = np.repeat(piece_of, widths)
        from_gate = (literals >> 1) >= first
        np.maximum.at(last, made_at(literals >> 1), reader[from_gate])
        next_literals = np.array(self.next_literals, np.int64)
        moves_begin = sum(section != MOVES for section, _, _ in pieces)
        goal_literals = network.goals.reshape(-1, 3)[:, 2]
        others = goal_literals, network.percept_literals, [network.terminal_literal]
        outputs = np.concatenate((next_literals, *others)) >> 1
        last[made_at(outputs.astype(np.int64))] = len(pieces)
        # Batched expansion runs MOVES several times on the values that one run of PLAY left.
        last[(piece_of < moves_begin) & (last >= moves_begin)] = len(pieces)
        stored = last > piece_of
        stored[places[np.array(list(self.fixed), np.int64)]] = True
        out, wires = self._wires(pieces, loops, last, stored)
        wire_of = np.concatenate((np.arange(first), np.zeros(len(self.inputs), np.int64)))
        wire_of[first + gate_of] = out
        if wires * BYTES >= 2**32:
            raise TooLargeError(f"the network has {gates:,} gates, more than the kernels can address")

        init = np.zeros(wires, np.uint8)
        in_network = gate_of < network.gates
        init[out[in_network]] = network.loop_init[gate_of[in_network]]
        goal_inputs = self._goal_inputs()
        return Straight(
            start=start.astype(np.int32),
            literals=(2 * wire_of[literals >> 1] + (literals & 1)).astype(np.int32),
            out=out.astype(np.int32),
            stored=stored,
            pieces=np.array(pieces, np.int32).reshape(-1, 3),
            loops=np.array(loops, np.bool_),
            # Nothing of it is interpreted; the moves' legality is in their own wires.
            plan=complete_plan(
                network,
                wire_of,
                next_literals,
                2 * (np.arange(network.move_count) + 1 + len(network.bases)),
                wires=wires,
                inputs=np.zeros(0, np.uint32),
                runs=np.zeros((0, RUN), np.int32),
                blocks=np.zeros((0, BLOCK), np.int32),
                base_blocks=0,
                play_blocks=0,
                goal_inputs=goal_inputs,
                step_inputs=int(np.maximum(np.diff(network.gate_start), 1).sum()) - goal_inputs,
                init=init,
            ),
        )

    def _goal_inputs(self) -> int:
        """The number of inputs of the network's gates of GOALS."""
        low, high = self.section_ends[:2]
        begins = self.network.gate_start
        mine = np.array([g for g in self.order[low:high] if g < self.network.gates], np.int64)
        return int(np.maximum(begins[mine + 1] - begins[mine], 1).sum())

    def _wires(
        self, pieces: list[tuple[int, int, int]], loops: list[bool], last: Ints, stored: Flags
    ) -> tuple[Ints, int]:
        """The wire of each gate in order, and the number of wires (linear scan: Poletto and Sarkar).

        A wire is freed after the last piece that reads it. The last freed wire, most likely still cached, is
        used first. Values that only their own piece reads have wires that all pieces share."""
        expires: list[list[int]] = [[] for _ in pieces]
        out = np.full(len(last), -1, np.int64)
        free: list[int] = []
        wires = self.first
        most = 0
        lasts, keeps = last.tolist(), stored.tolist()
        for number, ((_, low, high), loop) in enumerate(zip(pieces, loops, strict=True)):
            inside = 0
            for at in range(low, high):
                fixed = self.fixed.get(self.order[at])
                if fixed is not None:
                    out[at] = fixed
                elif loop:
                    out[at] = wires  # the kernels need the wires of a loop to be adjacent
                    wires += 1
                elif not keeps[at]:
                    out[at] = -2 - inside
                    inside += 1
                else:
                    if free:
                        wire = free.pop()
                    else:
                        wire = wires
                        wires += 1
                    out[at] = wire
                    if lasts[at] < len(pieces):
                        expires[lasts[at]].append(wire)
            most = max(most, inside)
            free += reversed(expires[number])
        within = out <= -2
        out[within] = wires - 2 - out[within]
        # The code of loops records changes in the last wire.
        return out, wires + most + 1

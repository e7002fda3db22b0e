"""From a circuit to a `Network`: loops are closed and gates put into evaluation order, base-only ones
first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gdl.compile.stratify import components
from gdl.errors import RulesError
from gdl.grounding.graph import spread
from gdl.grounding.ground_rules import GroundRules
from propnet.network import Network
from propnet.passes.circuit import FALSE, Circuit, Shape


def _settle_cuts(circuit: Circuit) -> Circuit:
    """Replace cuts that are constants, inputs or equal to other cuts. A cut that is its own definition has
    the least fixpoint false. Two cuts with one definition are merged."""
    while True:
        shape = circuit.shape
        first = shape.first_cut
        definitions = circuit.outputs[shape.first_cut_output :]
        value: dict[int, int] = {}
        same: dict[int, int] = {}
        for number, definition in enumerate(definitions):
            node = first + number
            if definition >> 1 < shape.first_gate:
                value[node] = definition
            elif definition in same:
                value[node] = 2 * same[definition]
            else:
                same[definition] = node
        if _read_cuts(circuit).isdisjoint(value):
            return circuit
        inputs = [2 * node for node in range(shape.first_gate)]
        for node in value:
            inputs[node] = _resolve(node, value)
        circuit = circuit.with_inputs(inputs)


def _read_cuts(circuit: Circuit) -> set[int]:
    """The cuts that some gate or output (other than a cut's own definition) reads."""
    shape = circuit.shape
    cuts = range(shape.first_cut, shape.first_gate)
    readers = (*circuit.gates, circuit.outputs[: shape.first_cut_output])
    return {x >> 1 for literals in readers for x in literals if x >> 1 in cuts}


def _resolve(node: int, value: dict[int, int]) -> int:
    """Follow cuts that stand for cuts; a ring of them is false."""
    seen = set()
    literal = 2 * node
    while literal >> 1 in value:
        if literal >> 1 in seen:
            return FALSE ^ (literal & 1)
        seen.add(literal >> 1)
        literal = value[literal >> 1] ^ (literal & 1)
    return literal


def finish(
    circuit: Circuit, game: GroundRules | Network, goals: Iterable[tuple[int, int]], stats: dict[str, float]
) -> Network:
    """Close the loops and lay the gates out in evaluation order.

    The order: gates that legal and terminal need, other gates without moves that next needs, gates that only
    goals need, then all gates that need moves. Within each section a gate stands shortly before its first
    reader.

    ``game`` provides the roles, the names of the circuit's inputs and the initial state, ``goals`` the role
    and the value of each goal output. Raises RulesError if an atom depends on its own negation.
    """
    circuit = _settle_cuts(circuit)
    shape = circuit.shape
    first = shape.first_gate
    reads, closed = _closed(circuit)
    sequence, base_gates, loops = _layout(shape, reads, closed)
    init = _loop_values(circuit, reads, sequence, loops)
    node = np.zeros(first + len(reads), np.int64)
    node[: shape.first_cut] = np.arange(shape.first_cut)
    node[first + np.array(sequence, np.int64)] = shape.first_cut + np.arange(len(sequence))
    start = np.zeros(len(sequence) + 1, np.int32)
    np.cumsum([len(reads[gate]) for gate in sequence], out=start[1:])
    flat = np.array([x for gate in sequence for x in reads[gate]], np.int64)
    outputs = np.array(closed, np.int64)

    def renumbered(literals: NDArray[np.int64]) -> NDArray[np.int32]:
        new: NDArray[np.int64] = 2 * node[literals >> 1] + (literals & 1)
        return new.astype(np.int32)

    literals = renumbered(outputs)
    goal, terminal = shape.first_goal_output, shape.first_cut_output - 1
    return Network(
        roles=game.roles,
        bases=game.bases,
        moves=game.moves,
        gate_start=start,
        gate_inputs=renumbered(flat),
        base_gates=base_gates,
        loops=np.array(loops, np.int32).reshape(-1, 2),
        loop_init=init,
        next_literals=literals[: shape.bases],
        legal_literals=literals[shape.bases : goal],
        goals=np.array(
            [(role, value, x) for (role, value), x in zip(goals, literals[goal:terminal], strict=True)],
            np.int32,
        ).reshape(-1, 3),
        terminal_literal=int(literals[terminal]),
        initial=game.initial,
        stats=stats,
    )


def _closed(circuit: Circuit) -> tuple[list[tuple[int, ...]], list[int]]:
    """Gates and outputs (without those of the cuts) with definitions in place of cuts."""
    shape = circuit.shape
    definitions = circuit.outputs[shape.first_cut_output :]

    def closed(literal: int) -> int:
        node = literal >> 1
        if shape.first_cut <= node < shape.first_gate:
            return definitions[node - shape.first_cut] ^ (literal & 1)
        return literal

    outputs = list(map(closed, circuit.outputs[: shape.first_cut_output]))
    if not shape.cuts:
        return circuit.gates, outputs
    return [tuple(map(closed, gate)) for gate in circuit.gates], outputs


def _layout(
    shape: Shape, reads: list[tuple[int, ...]], outputs: list[int]
) -> tuple[list[int], int, list[tuple[int, int]]]:
    """Evaluation order of the gates, the number of base-only gates, and the loops."""
    first = shape.first_gate
    loop_of: dict[int, list[int]] = {}
    if shape.cuts:
        below = [[(x >> 1) - first for x in gate if x >> 1 >= first] for gate in reads]
        for members in components(below):
            if len(members) > 1 or members[0] in below[members[0]]:
                loop_of.update(dict.fromkeys(members, members))
    sequence: list[int] = []
    loops: list[tuple[int, int]] = []
    placed: set[int] = set()

    def visit(roots: Iterable[int]) -> None:
        for root in roots:
            stack = [(root >> 1) - first]
            while stack:
                gate = stack[-1]
                if gate < 0 or gate in placed:
                    stack.pop()
                    continue
                loop = loop_of.get(gate)
                unit = loop or [gate]
                waiting = [(x >> 1) - first for member in unit for x in reads[member] if x >> 1 >= first]
                waiting = [
                    g for g in waiting if g not in placed and (loop is None or loop_of.get(g) is not loop)
                ]
                if waiting:
                    stack.extend(reversed(waiting))
                    continue
                placed.update(unit)
                if loop is not None:
                    loops.append((len(sequence), len(sequence) + len(unit)))
                sequence.extend(unit)

    moved = _moved(shape, reads)
    visit(outputs[shape.bases : shape.first_goal_output])
    visit(outputs[-1:])
    edge = [x for gate, needs in zip(reads, moved[first:], strict=True) if needs for x in gate]
    visit(x for x in [*outputs[: shape.bases], *edge] if not moved[x >> 1])
    visit(outputs[shape.first_goal_output : -1])
    base_gates = len(sequence)
    visit(outputs[: shape.bases])
    return sequence, base_gates, loops


def _moved(shape: Shape, reads: list[tuple[int, ...]]) -> list[bool]:
    """Whether each node depends on moves."""
    first = shape.first_gate
    mark = np.zeros(first + len(reads), bool)
    mark[shape.first_move : shape.first_cut] = True
    source = np.array([x >> 1 for gate in reads for x in gate], np.int64)
    target = np.repeat(np.arange(first, first + len(reads)), [len(gate) for gate in reads])
    spread(mark, source, target)
    return mark.tolist()


def _loop_values(
    circuit: Circuit, reads: list[tuple[int, ...]], sequence: list[int], loops: list[tuple[int, int]]
) -> NDArray[np.uint8]:
    """The value from which each gate of a loop starts: false if it can only rise towards the least fixpoint,
    true if it can only fall. Raises RulesError if it would have to do both."""
    shape, first = circuit.shape, circuit.shape.first_gate
    definitions = circuit.outputs[shape.first_cut_output :]
    cuts = range(shape.first_cut, first)
    values = np.zeros(len(sequence), np.uint8)
    for start, past in loops:
        place = {sequence[i]: i for i in range(start, past)}
        # A loop's own cuts are those that its gates read; they rise from false.
        own = {x >> 1 for gate in place for x in circuit.gates[gate] if x >> 1 in cuts}
        starts = [definitions[node - shape.first_cut] for node in own]
        stack = [((x >> 1) - first, x & 1) for x in starts if (x >> 1) - first in place]
        start_of: dict[int, int] = {}
        while stack:
            gate, value = stack.pop()
            if start_of.setdefault(gate, value) != value:
                raise RulesError("an atom depends on its own negation")
            values[place[gate]] = value
            stack.extend(
                ((x >> 1) - first, value ^ (x & 1))
                for x in reads[gate]
                if (x >> 1) - first in place and start_of.get((x >> 1) - first) != value ^ (x & 1)
            )
    return values

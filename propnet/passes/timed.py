"""Propositions that no move influences go through one known series of states, so some of them are constant.

For example a step counter and the player to move: in no state is the step even and the first player to move.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import spread
from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, remove_dead, replaced

STATES = 4096
"""The most states of the clocks that are followed; clocks with a longer course are left alone."""

_INPUTS = 400_000
"""The most gate inputs that are visited while the clocks run."""


def timed_constants(circuit: Circuit, initial: NDArray[np.bool_]) -> Circuit:
    """Replace gates that depend on clocks alone by a constant, or by another such node, if they have the same
    values in all states through which the clocks go from the initial state on.

    *Clocks* are base propositions that no move ever influences. A clock that never changes becomes a
    constant, too. Outputs keep their function in all reachable states. ``initial``, shape (bases,), is the
    initial state.
    """
    shape, first = circuit.shape, circuit.shape.first_gate
    timed = _timed(circuit)
    if not timed[first:].any():
        return circuit
    courses = _courses(circuit, timed.tolist(), initial)
    if courses is None:
        return circuit
    every = courses[0]
    # For each course the literal of the first node that has it.
    literal_with = {0: FALSE, every: TRUE}
    literal_of = [2 * node for node in range(first)]
    fixed = []
    for node in np.flatnonzero(timed[: shape.first_move]).tolist()[1:]:
        course = courses[node]
        if course in (0, every):
            literal_of[node] = literal_with[course]
            fixed.append(node)
        literal_with.setdefault(course, 2 * node)
    builder = CircuitBuilder(first)
    for number, gate in enumerate(circuit.gates):
        course = courses.get(first + number, -1)
        literal = literal_with.get(course, -1)
        if literal < 0 <= course:
            literal = literal_with.get(every ^ course, -1)
            literal ^= literal >= 0
        if literal < 0:
            literal = builder.conjunction(replaced(gate, literal_of))
            if course >= 0:
                literal_with[course] = literal
        literal_of.append(literal)
    outputs = replaced(circuit.outputs, literal_of)
    for node in fixed:
        outputs[node - 1] = literal_of[node]
    return remove_dead(Circuit(shape, builder.gates, outputs))


def _timed(circuit: Circuit) -> NDArray[np.bool_]:
    """The nodes that no move influences, now or in earlier states, as a mask."""
    shape, first, gates = circuit.shape, circuit.shape.first_gate, circuit.gates
    widths = np.fromiter(map(len, gates), np.int64, len(gates))
    read = np.fromiter(chain.from_iterable(gates), np.int64, int(widths.sum())) >> 1
    following = np.array(circuit.outputs[: shape.bases], np.int64) >> 1
    mark = np.zeros(first + len(gates), np.bool_)
    mark[shape.first_move : first] = True
    source = np.concatenate([read, following])
    target = np.concatenate([np.repeat(first + np.arange(len(gates)), widths), 1 + np.arange(shape.bases)])
    spread(mark, source, target)
    return ~mark


def _courses(circuit: Circuit, timed: list[bool], initial: NDArray[np.bool_]) -> dict[int, int] | None:
    """For each node that depends on clocks alone its values in all states of the clocks, bit by bit; None if
    there are too many states."""
    shape, first, gates = circuit.shape, circuit.shape.first_gate, circuit.gates
    clocks = [node for node in range(1, shape.first_move) if timed[node]]
    numbers = [number for number in range(len(gates)) if timed[first + number]]
    following = [circuit.outputs[node - 1] for node in clocks]
    needed = {x >> 1 for x in following}
    cone = []
    for number in reversed(numbers):
        if first + number in needed:
            cone.append(number)
            needed.update(x >> 1 for x in gates[number])
    cone.reverse()
    cost = len(clocks) + sum(len(gates[number]) for number in cone)
    most = min(STATES, _INPUTS // max(1, cost))
    state = tuple(int(initial[node - 1]) for node in clocks)
    seen: dict[tuple[int, ...], None] = {}
    values = {0: 1}
    while state not in seen:
        if len(seen) == most:
            return None
        seen[state] = None
        values.update(zip(clocks, state, strict=True))
        for number in cone:
            values[first + number] = int(all(values[x >> 1] ^ (x & 1) for x in gates[number]))
        state = tuple(values[x >> 1] ^ (x & 1) for x in following)
    every = (1 << len(seen)) - 1
    courses = {0: every}
    for node, bits in zip(clocks, zip(*seen, strict=True), strict=True):
        courses[node] = int("".join(map(str, bits)), 2)
    for number in numbers:
        course = every
        for x in gates[number]:
            course &= courses[x >> 1] ^ (every if x & 1 else 0)
        courses[first + number] = course
    return courses

"""Base propositions and moves that never change: ternary simulation from the initial state
(R. Bryant and C. Seger: Formal verification by symbolic evaluation of trajectories, 1995)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propnet.passes.circuit import FALSE, TRUE, Circuit
from propnet.passes.dead import remove_dead

OPEN = 2
"""The value of what may be true as well as false."""


def constant_latches(circuit: Circuit, initial: NDArray[np.bool_]) -> Circuit:
    """Put constants in the place of base propositions that keep their initial value in every state that legal
    moves lead to, and of moves that are legal in none of these states.

    Outputs keep their function in these states: a constant base proposition still has its (constant) output.
    What cuts hold is taken to be open; ``initial``, shape (bases,), is the initial state.
    """
    shape = circuit.shape
    values = _values_in_play(circuit, initial)
    inputs = [2 * node for node in range(shape.first_gate)]
    fixed = [node for node in range(1, shape.first_cut) if values[node] != OPEN]
    if not fixed:
        return circuit
    for node in fixed:
        inputs[node] = TRUE if values[node] else FALSE
    rewritten = circuit.with_inputs(inputs)
    for node in fixed:
        if node < shape.first_move:
            rewritten.outputs[node - 1] = inputs[node]
    return remove_dead(rewritten)


def _values_in_play(circuit: Circuit, initial: NDArray[np.bool_]) -> list[int]:
    """Each node's value in all states that can be reached: 0, 1 or ``OPEN``."""
    # Values start from those of the initial state with no move made and only ever open: moves
    # that are legal, then base propositions that may change, and what depends on them.
    shape = circuit.shape
    first = shape.first_gate
    gates = circuit.gates
    values: list[int] = [1, *initial.astype(int).tolist(), *[0] * sum(shape.moves), *[OPEN] * shape.cuts]
    # A false gate waits for one false input, the first, to open; a true one for any.
    waiting: list[list[int]] = [[] for _ in range(first + len(gates))]
    place = [0] * len(gates)
    for number, gate in enumerate(gates):
        value = 1
        for i, x in enumerate(gate):
            below = values[x >> 1]
            if below == OPEN:
                value = OPEN
            elif below == x & 1:
                value, place[number] = 0, i
                waiting[x >> 1].append(number)
                break
        if value == 1:
            for x in gate:
                waiting[x >> 1].append(number)
        values.append(value)
    # Base propositions and moves (nodes) by the node of their next, or legal.
    latches: dict[int, list[int]] = {}
    for node, x in enumerate(circuit.outputs[: shape.first_goal_output], 1):
        latches.setdefault(x >> 1, []).append(node)

    def open_up(stack: list[int], least: int) -> None:
        while stack:
            node = stack.pop()
            if values[node] == OPEN:
                continue
            values[node] = OPEN
            stack.extend([latch for latch in latches.get(node, ()) if latch >= least])
            for number in waiting[node]:
                gate = gates[number]
                # Another false input of a false gate keeps it false.
                rest = range(place[number] + 1, len(gate)) if values[first + number] == 0 else ()
                for i in rest:
                    if values[gate[i] >> 1] == gate[i] & 1:
                        place[number] = i
                        waiting[gate[i] >> 1].append(number)
                        break
                else:
                    stack.append(first + number)
            waiting[node] = []

    def changes(latch: int) -> bool:
        x = circuit.outputs[latch - 1]
        return values[x >> 1] == OPEN or values[x >> 1] ^ (x & 1) != values[latch]

    open_up([move for move in range(shape.first_move, shape.first_cut) if changes(move)], shape.first_move)
    open_up([base for base in range(1, shape.first_move) if changes(base)], 1)
    return values

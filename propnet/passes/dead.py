"""Dead gates: what no output reads is removed."""

from __future__ import annotations

from propnet.passes.circuit import Circuit, replaced


def remove_dead(circuit: Circuit) -> Circuit:
    """The circuit without gates that no output depends on."""
    first = circuit.shape.first_gate
    gates = circuit.gates
    alive = [False] * len(gates)
    for x in circuit.outputs:
        if x >> 1 >= first:
            alive[(x >> 1) - first] = True
    for number in range(len(gates) - 1, -1, -1):
        if alive[number]:
            for x in gates[number]:
                if x >> 1 >= first:
                    alive[(x >> 1) - first] = True
    if all(alive):
        return circuit
    literal_of = [2 * node for node in range(first)]
    live_gates: list[tuple[int, ...]] = []
    for gate, live in zip(gates, alive, strict=True):
        literal_of.append(2 * (first + len(live_gates)))
        if live:
            live_gates.append(tuple(replaced(gate, literal_of)))
    return Circuit(circuit.shape, live_gates, replaced(circuit.outputs, literal_of))

"""Gates that no output reads are removed."""

from __future__ import annotations

from propnet.passes.circuit import Circuit


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
    node = list(range(first))
    kept: list[tuple[int, ...]] = []
    for gate, live in zip(gates, alive, strict=True):
        node.append(first + len(kept))
        if live:
            kept.append(tuple([2 * node[x >> 1] + (x & 1) for x in gate]))
    return Circuit(circuit.shape, kept, [2 * node[x >> 1] + (x & 1) for x in circuit.outputs])

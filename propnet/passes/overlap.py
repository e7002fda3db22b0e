"""What two gates have in common becomes a gate of its own: rectangles of two rows
(R. Brayton, R. Rudell, A. Sangiovanni-Vincentelli and A. Wang: The rectangular covering problem, 1987)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from propnet.passes.circuit import Circuit, readers_of
from propnet.passes.extract import ROW, in_order, pairs_in_rows

READERS = 12
"""Literals that more gates read are left out when overlaps are counted."""

PAIRS = 4_000_000
"""Most pairs of gates that are counted, once for each literal that they share."""

SMALLEST = 3
"""Sharing fewer literals saves nothing."""


def share_overlaps(circuit: Circuit) -> Circuit:
    """Take out of two gates what both read, the largest overlap first. ``extract`` shares few literals of
    many gates, this many literals of two: sets of moves that cross, such as those from one square and those
    to another."""
    first = circuit.shape.first_gate
    gates = [set(gate) for gate in circuit.gates]
    readers = readers_of(circuit.gates)
    heap = [(-size, low, high) for size, low, high in _overlaps(readers)]
    if not heap:
        return circuit
    heapify(heap)
    while heap:
        size, low, high = heappop(heap)
        joint = gates[low] & gates[high]
        if len(joint) != -size:
            if len(joint) >= SMALLEST:
                heappush(heap, (-len(joint), low, high))
            continue
        new = len(gates)
        shared = low if len(joint) == len(gates[low]) else high if len(joint) == len(gates[high]) else new
        if shared == new:
            with_joint: dict[int, int] = {}
            for x in joint:
                for reader in readers[x]:
                    if reader != low and reader != high and x in gates[reader]:
                        with_joint[reader] = with_joint.get(reader, 0) + 1
                readers[x].append(new)
            gates.append(joint)
            for reader, count in with_joint.items():
                if count >= SMALLEST:
                    heappush(heap, (-count, reader, new))
        literal = 2 * (first + shared)
        for number in (low, high):
            if number != shared:
                gates[number] = gates[number] - joint
                gates[number].add(literal)
                readers.setdefault(literal, []).append(number)
    return in_order(circuit.shape, gates, circuit.outputs)


def _overlaps(readers: dict[int, list[int]]) -> list[tuple[int, int, int]]:
    """How many literals two gates share, and the gates, where it is enough."""
    pairs, _ = pairs_in_rows([gates for gates in readers.values() if 1 < len(gates) <= READERS], PAIRS)
    key, size = np.unique(pairs, return_counts=True)
    enough = size >= SMALLEST
    low, high = np.divmod(key[enough], ROW)
    return list(zip(size[enough].tolist(), low.tolist(), high.tolist(), strict=True))

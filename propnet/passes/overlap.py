"""What two gates have in common becomes a gate of its own: rectangles of two rows
(R. Brayton, R. Rudell, A. Sangiovanni-Vincentelli and A. Wang: The rectangular covering problem, 1987)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from propnet.passes.circuit import Circuit
from propnet.passes.extract import in_order

READERS = 12
"""Literals that more gates read are left out when overlaps are counted."""

PAIRS = 4_000_000
"""Most pairs of gates that are counted, once for each literal that they share."""

SMALLEST = 3
"""Sharing fewer literals saves nothing."""

_ROW = 1 << 32


def share_overlaps(circuit: Circuit) -> Circuit:
    """Take out of two gates what both read, the largest overlap first.

    ``extract`` looks for few literals in many gates, this for many literals in two: sets of
    moves that cross each other (those from a square, those to a square), say.
    """
    first = circuit.shape.first_gate
    gates = [set(gate) for gate in circuit.gates]
    readers: dict[int, list[int]] = {}
    for number, gate in enumerate(circuit.gates):
        for x in gate:
            readers.setdefault(x, []).append(number)
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
        made = len(gates)
        whole = low if len(joint) == len(gates[low]) else high if len(joint) == len(gates[high]) else made
        others: dict[int, int] = {}
        for x in joint:
            for other in readers[x]:
                if other != low and other != high and x in gates[other]:
                    others[other] = others.get(other, 0) + 1
        if whole == made:
            gates.append(joint)
            for x in joint:
                readers[x].append(made)
            for other in sorted(others):
                if others[other] >= SMALLEST:
                    heappush(heap, (-others[other], other, made))
        literal = 2 * (first + whole)
        for number in (low, high):
            if number != whole:
                gates[number] = gates[number] - joint
                gates[number].add(literal)
        readers.setdefault(literal, []).extend(n for n in (low, high) if n != whole)
    return in_order(circuit.shape, gates, circuit.outputs)


def _overlaps(readers: dict[int, list[int]]) -> list[tuple[int, int, int]]:
    """How many literals two gates share, and the gates, where it is enough."""
    by_count: dict[int, list[list[int]]] = {}
    for where in readers.values():
        if 1 < len(where) <= READERS:
            by_count.setdefault(len(where), []).append(where)
    keys = []
    room = PAIRS
    for count, lists in sorted(by_count.items()):
        rows, columns = np.triu_indices(count, 1)
        lists = lists[: max(room, 0) // len(rows)]
        if lists:
            room -= len(lists) * len(rows)
            table = np.array(lists, np.int64)
            keys.append((table[:, rows] * _ROW + table[:, columns]).ravel())
    if not keys:
        return []
    key, size = np.unique(np.concatenate(keys), return_counts=True)
    enough = size >= SMALLEST
    low, high = np.divmod(key[enough], _ROW)
    return list(zip(size[enough].tolist(), low.tolist(), high.tolist(), strict=True))

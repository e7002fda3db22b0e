"""Common cube extraction: inputs that several gates share become a gate of their own
(J. Rajski and J. Vasudevamurthy, 1992).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from propnet.passes.circuit import Circuit, CircuitBuilder, Shape, readers_of, replaced

WIDEST = 200
"""Gates with more inputs are left out of the count of pairs, which grows with the square."""

_PAIRS = 6_000_000
"""The most pairs of inputs that are counted."""

_COMPARISONS = 1_000_000
"""The most literals that are visited in the search for gates inside gates."""

ROW = 1 << 32
"""A pair of numbers is packed as ``low * ROW + high``."""


def extract(circuit: Circuit) -> Circuit:
    """Share inputs: gates inside gates, inputs that always occur together, frequent pairs. All three keep
    every gate's function and reduce the number of gate inputs."""
    pool = _Pool(circuit)
    pool.use_contained_gates()
    pool.join_companions()
    pool.join_pairs()
    pool.use_contained_gates()
    return in_order(pool.shape, pool.gates, pool.outputs)


class _Pool:
    """Gates as sets of literals in no order; a new gate has a node after all others."""

    def __init__(self, circuit: Circuit) -> None:
        self.shape = circuit.shape
        self.first = circuit.shape.first_gate
        self.outputs = circuit.outputs
        self.gates = [set(gate) for gate in circuit.gates]

    def literal(self, gate: int) -> int:
        return 2 * (self.first + gate)

    def add(self, inputs: set[int]) -> int:
        """Add a gate; return its literal."""
        self.gates.append(inputs)
        return self.literal(len(self.gates) - 1)

    def use_contained_gates(self) -> None:
        """Let gates whose inputs contain all inputs of another gate read that gate instead."""
        readers = readers_of(self.gates)
        widest = {x: max(len(self.gates[g]) for g in gates) for x, gates in readers.items()}
        budget = _COMPARISONS
        for number in sorted(range(len(self.gates)), key=lambda g: -len(self.gates[g])):
            inner = self.gates[number]
            size = len(inner)
            if any(widest.get(x, size) <= size for x in inner):
                continue
            rarest = min([readers[x] for x in inner], key=len, default=[])
            budget -= len(rarest)
            if budget < 0:
                return
            for reader in rarest:
                outer = self.gates[reader]
                if len(outer) > size and inner <= outer:
                    outer -= inner
                    outer.add(self.literal(number))

    def join_companions(self) -> None:
        """Turn literals that exactly the same gates read into one gate."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for x, readers in readers_of(self.gates).items():
            if len(readers) > 1:
                groups.setdefault(tuple(readers), []).append(x)
        for gates, literals in groups.items():
            if len(gates) * len(literals) <= len(gates) + len(literals):
                continue
            equal = [g for g in gates if len(self.gates[g]) == len(literals)]
            joint = self.literal(equal[0]) if equal else self.add(set(literals))
            for number in gates:
                if number not in equal:
                    self.gates[number].difference_update(literals)
                    self.gates[number].add(joint)

    def join_pairs(self) -> None:
        """Turn the pair of literals that most gates share into a gate, again and again."""
        sharing = self.frequent_pairs()
        heap = [(-len(gates), pair) for pair, gates in sharing.items()]
        heapify(heap)
        while heap:
            size, pair = heappop(heap)
            gates = sharing.get(pair)
            if gates is None or len(gates) < 3:
                continue
            if len(gates) != -size:
                heappush(heap, (-len(gates), pair))
                continue
            del sharing[pair]
            low, high = divmod(pair, ROW)
            joint = self.add({low, high})
            with_joint: dict[int, set[int]] = {}
            for number in gates:
                inputs = self.gates[number]
                inputs.discard(low)
                inputs.discard(high)
                for x in inputs:
                    for y in (low, high):
                        shared = sharing.get(x * ROW + y if x < y else y * ROW + x)
                        if shared is not None:
                            shared.discard(number)
                    with_joint.setdefault(x, set()).add(number)
                inputs.add(joint)
            for x, numbers in with_joint.items():
                if len(numbers) > 2:
                    pair = x * ROW + joint
                    sharing[pair] = numbers
                    heappush(heap, (-len(numbers), pair))

    def frequent_pairs(self) -> dict[int, set[int]]:
        """Pairs of literals (packed) that at least three gates share."""
        wide = [number for number, gate in enumerate(self.gates) if 2 < len(gate) <= WIDEST]
        key, row = _pairs_in_rows([sorted(self.gates[number]) for number in wide], _PAIRS)
        owner = np.array(wide, np.int32)[row]
        order = np.argsort(key, kind="stable")
        key, owner = key[order], owner[order]
        start = np.flatnonzero(np.concatenate([key[:1] == key[:1], key[1:] != key[:-1]]))
        count = np.diff(np.append(start, len(key)))
        often = count > 2
        pairs = key[start[often]].tolist()
        lists = owner.tolist()
        bounds = zip(start[often].tolist(), (start + count)[often].tolist(), strict=True)
        return {pair: set(lists[a:b]) for pair, (a, b) in zip(pairs, bounds, strict=True)}


def _pairs_in_rows(rows: list[list[int]], room: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs in ascending rows (packed), and the number of the row of each. Short rows come first. There
    are at most ``room`` pairs."""
    by_size: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        by_size.setdefault(len(row), []).append(number)
    pairs = [np.zeros(0, np.int64)]
    owners = [np.zeros(0, np.int64)]
    for size, numbers in sorted(by_size.items()):
        low, high = np.triu_indices(size, 1)
        numbers = numbers[: max(room, 0) // len(low)]
        room -= len(numbers) * len(low)
        table = np.array([rows[number] for number in numbers], np.int64).reshape(-1, size)
        pairs.append((table[:, low] * ROW + table[:, high]).ravel())
        owners.append(np.repeat(np.array(numbers, np.int64), len(low)))
    return np.concatenate(pairs), np.concatenate(owners)


def in_order(shape: Shape, gates: list[set[int]], outputs: list[int]) -> Circuit:
    """A circuit of the gates on which outputs depend, each after the gates that it reads. Positive gates that
    only one gate reads merge into it."""
    first = shape.first_gate
    uses = [0] * (first + len(gates))
    for gate in gates:
        for x in gate:
            uses[x >> 1] += 1 if not x & 1 else 2
    for x in outputs:
        uses[x >> 1] += 2
    builder = CircuitBuilder(first)
    literal_of = [2 * node for node in range(first)] + [-1] * len(gates)
    for root in outputs:
        stack = [root >> 1]
        while stack:
            node = stack[-1]
            if literal_of[node] >= 0:
                stack.pop()
                continue
            inputs = []
            todo = list(gates[node - first])
            while todo:
                x = todo.pop()
                if not x & 1 and x >> 1 >= first and uses[x >> 1] == 1:
                    todo.extend(gates[(x >> 1) - first])
                else:
                    inputs.append(x)
            waiting = [x >> 1 for x in inputs if literal_of[x >> 1] < 0]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            literal_of[node] = builder.conjunction(replaced(inputs, literal_of))
    return Circuit(shape, builder.gates, replaced(outputs, literal_of))

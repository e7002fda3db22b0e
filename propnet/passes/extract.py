"""Common cube extraction: inputs that several gates share become a gate of their own
(J. Rajski and J. Vasudevamurthy, 1992)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from propnet.passes.circuit import Builder, Circuit, Shape

WIDEST = 200
"""Gates with more inputs are left out when pairs are counted (pairs grow with the square)."""

PAIRS = 6_000_000
"""Most pairs of inputs that are counted."""

COMPARISONS = 1_000_000
"""Most literals that are looked at in search of gates inside gates."""

_ROW = 1 << 32


def extract(circuit: Circuit) -> Circuit:
    """Share inputs: gates inside gates, inputs that always occur together, frequent pairs.

    All three keep every gate's function and lower the number of gate inputs.
    """
    pool = _Pool(circuit)
    pool.use_contained_gates()
    pool.join_companions()
    pool.join_pairs()
    pool.use_contained_gates()
    return pool.circuit()


class _Pool:
    """Gates as sets of literals in no order; a new gate's node is past all others'."""

    def __init__(self, circuit: Circuit) -> None:
        self.shape = circuit.shape
        self.first = circuit.shape.first_gate
        self.outputs = circuit.outputs
        self.gates = [set(gate) for gate in circuit.gates]

    def literal(self, gate: int) -> int:
        return 2 * (self.first + gate)

    def add(self, inputs: set[int]) -> int:
        """A new gate; gives its literal."""
        self.gates.append(inputs)
        return self.literal(len(self.gates) - 1)

    def readers(self) -> dict[int, list[int]]:
        """The gates that read each literal."""
        readers: dict[int, list[int]] = {}
        for number, gate in enumerate(self.gates):
            for x in gate:
                where = readers.get(x)
                if where is None:
                    readers[x] = [number]
                else:
                    where.append(number)
        return readers

    def use_contained_gates(self) -> None:
        """A gate whose inputs another gate has among its own is read in their place."""
        readers = self.readers()
        widest = {x: max([len(self.gates[g]) for g in where]) for x, where in readers.items()}
        budget = COMPARISONS
        for number in sorted(range(len(self.gates)), key=lambda g: -len(self.gates[g])):
            inner = self.gates[number]
            size = len(inner)
            if any(widest.get(x, size) <= size for x in inner):
                continue
            rarest = min([readers[x] for x in inner], key=len, default=[])
            budget -= len(rarest)
            if budget < 0:
                return
            for other in rarest:
                outer = self.gates[other]
                if len(outer) > size and inner <= outer:
                    outer -= inner
                    outer.add(self.literal(number))

    def join_companions(self) -> None:
        """Literals that exactly the same gates read become one gate."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for x, where in self.readers().items():
            if len(where) > 1:
                groups.setdefault(tuple(where), []).append(x)
        for gates, literals in groups.items():
            if len(gates) * len(literals) <= len(gates) + len(literals):
                continue
            whole = [g for g in gates if len(self.gates[g]) == len(literals)]
            joint = self.literal(whole[0]) if whole else self.add(set(literals))
            for number in gates:
                if number not in whole:
                    self.gates[number].difference_update(literals)
                    self.gates[number].add(joint)

    def join_pairs(self) -> None:
        """The pair of literals that most gates share becomes a gate, again and again."""
        where = self.frequent_pairs()
        heap = [(-len(gates), pair) for pair, gates in where.items()]
        heapify(heap)
        while heap:
            size, pair = heappop(heap)
            gates = where.get(pair)
            if gates is None or len(gates) < 3:
                continue
            if len(gates) != -size:
                heappush(heap, (-len(gates), pair))
                continue
            del where[pair]
            low, high = divmod(pair, _ROW)
            joint = self.add({low, high})
            fresh: dict[int, set[int]] = {}
            for number in gates:
                inputs = self.gates[number]
                inputs.discard(low)
                inputs.discard(high)
                for x in inputs:
                    for y in (low, high):
                        shared = where.get(x * _ROW + y if x < y else y * _ROW + x)
                        if shared is not None:
                            shared.discard(number)
                    fresh.setdefault(x, set()).add(number)
                inputs.add(joint)
            for x, numbers in fresh.items():
                if len(numbers) > 2:
                    pair = x * _ROW + joint
                    where[pair] = numbers
                    heappush(heap, (-len(numbers), pair))

    def frequent_pairs(self) -> dict[int, set[int]]:
        """Pairs of literals (as ``low * 2**32 + high``) that at least three gates share."""
        by_size: dict[int, list[int]] = {}
        for number, gate in enumerate(self.gates):
            if 2 < len(gate) <= WIDEST:
                by_size.setdefault(len(gate), []).append(number)
        keys, owners = [], []
        room = PAIRS
        for size, numbers in sorted(by_size.items()):
            rows, columns = np.triu_indices(size, 1)
            numbers = numbers[: max(room, 0) // len(rows)]
            if not numbers:
                break
            room -= len(numbers) * len(rows)
            table = np.array([sorted(self.gates[g]) for g in numbers], np.int64)
            keys.append((table[:, rows] * _ROW + table[:, columns]).ravel())
            owners.append(np.repeat(np.array(numbers, np.int32), len(rows)))
        if not keys:
            return {}
        key, owner = np.concatenate(keys), np.concatenate(owners)
        order = np.argsort(key, kind="stable")
        key, owner = key[order], owner[order]
        start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        count = np.diff(np.append(start, len(key)))
        often = count > 2
        pairs = key[start[often]].tolist()
        lists = owner.tolist()
        bounds = zip(start[often].tolist(), (start + count)[often].tolist(), strict=True)
        return {pair: set(lists[a:b]) for pair, (a, b) in zip(pairs, bounds, strict=True)}

    def circuit(self) -> Circuit:
        """The gates in evaluation order."""
        return in_order(self.shape, self.gates, self.outputs)


def in_order(shape: Shape, gates: list[set[int]], outputs: list[int]) -> Circuit:
    """A circuit of the gates that outputs depend on, each after what it reads.

    Positive gates that only one gate reads merge into it.
    """
    first = shape.first_gate
    uses = [0] * (first + len(gates))
    for gate in gates:
        for x in gate:
            uses[x >> 1] += 1 if not x & 1 else 2
    for x in outputs:
        uses[x >> 1] += 2
    builder = Builder(first)
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
            literal_of[node] = builder.conjunction([literal_of[x >> 1] ^ (x & 1) for x in inputs])
    return Circuit(shape, builder.gates, [literal_of[x >> 1] ^ (x & 1) for x in outputs])

"""One move per role and turn: what depends on one role's moves alone is a set of moves."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from propnet.passes.circuit import FALSE, TRUE, Builder, Circuit

SETS = 4_000_000
"""Most moves that all sets of moves may hold together; gates past that are left alone."""


def one_move_per_role(circuit: Circuit) -> Circuit:
    """Use that each role makes exactly one of its moves.

    A gate that reads one role's moves alone says whether the move made is in a certain
    set. Sets that meet in a gate are intersected; each set is written as the OR of its
    moves or as the negated OR of the role's other moves, whichever is shorter, so that
    equal and complementary sets are one gate.

    Only what depends on moves is changed, so legal, terminal and goal, which are evaluated
    before any move is made, stay what they are.
    """
    return _MoveSets(circuit).run()


class _MoveSets:
    """One pass. A set of moves is ``(role, bits)``, bit m for the role's move m."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        shape = circuit.shape
        self.builder = Builder(shape.first_gate)
        self.starts = [shape.first_move]
        for count in shape.moves:
            self.starts.append(self.starts[-1] + count)
        self.full = [(1 << count) - 1 for count in shape.moves]
        self.set_of: list[tuple[int, int] | None] = [None] * shape.first_gate
        for node in range(shape.first_move, shape.first_cut):
            role = bisect_right(self.starts, node) - 1
            self.set_of[node] = (role, 1 << (node - self.starts[role]))
        self.literal_of = [2 * node for node in range(shape.first_gate)]
        self.room = SETS

    def run(self) -> Circuit:
        for gate in self.circuit.gates:
            self.add(gate)
        return Circuit(self.circuit.shape, self.builder.gates, list(map(self.literal, self.circuit.outputs)))

    def literal(self, old: int) -> int:
        """The new literal of an old one."""
        node = old >> 1
        new = self.literal_of[node]
        if new < 0:
            found = self.set_of[node]
            assert found is not None
            new = self.literal_of[node] = self.membership(*found)
        return new ^ (old & 1)

    def add(self, gate: tuple[int, ...]) -> None:
        """Rewrite one gate; one that is a set gets its literal only when it is asked for."""
        sets: dict[int, int] = {}
        inputs = []
        for x in gate:
            found = self.set_of[x >> 1]
            if found is None:
                inputs.append(self.literal_of[x >> 1] ^ (x & 1))
            else:
                role, bits = found
                sets[role] = sets.get(role, self.full[role]) & (self.full[role] ^ bits if x & 1 else bits)
        if len(sets) == 1 and not inputs:
            self.set_of.append(next(iter(sets.items())))
            self.literal_of.append(-1)
            return
        inputs.extend(self.membership(role, bits) for role, bits in sets.items())
        self.set_of.append(None)
        self.literal_of.append(self.builder.conjunction(inputs))

    def membership(self, role: int, bits: int) -> int:
        """A literal that says that the role's move is in a set."""
        size = bits.bit_count()
        count = self.full[role].bit_length()
        if size in (0, count):
            return TRUE if size else FALSE
        complement = 2 * size > count
        if complement:
            bits ^= self.full[role]
        raw = np.frombuffer(bits.to_bytes(count // 8 + 1, "little"), np.uint8)
        members = np.flatnonzero(np.unpackbits(raw, bitorder="little")) + self.starts[role]
        return self.builder.disjunction((2 * members).tolist()) ^ complement

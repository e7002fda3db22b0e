"""One move per role and turn: what depends on one role's moves alone is a set of moves."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from propnet.passes.circuit import FALSE, TRUE, Builder, Circuit
from propnet.passes.dead import remove_dead

SETS = 400_000_000
"""Most moves that all unions of several roles' sets are out of; gates past that are left alone."""


def one_move_per_role(circuit: Circuit) -> Circuit:
    """Use that each role makes exactly one of its moves.

    A gate that reads one role's moves alone says whether the move made is in a certain
    set. Sets that meet in a gate are intersected; each set is written as the OR of its
    moves or as the negated OR of the role's other moves, whichever is shorter, so that
    equal and complementary sets are one gate. An OR of several roles' sets is an OR of one
    set for each role if that has fewer inputs.

    Only what depends on moves is changed, so legal, terminal and goal, which are evaluated
    before any move is made, stay what they are.
    """
    return _MoveSets(circuit).run()


class _MoveSets:
    """One pass. A set of moves is ``(role, bits)``, bit m for the role's move m.

    Attributes:
        set_of: the set of each old node that depends on one role's moves alone.
        union_of: where the negation of an old node says that some role's move is in a set:
            role -> that set's bits.
    """

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
        self.union_of: dict[int, dict[int, int]] = {}
        self.literal_of = [2 * node for node in range(shape.first_gate)]
        self.room = SETS

    def run(self) -> Circuit:
        for gate in self.circuit.gates:
            self.add(gate)
        outputs = list(map(self.literal, self.circuit.outputs))
        return remove_dead(Circuit(self.circuit.shape, self.builder.gates, outputs))

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
        union = self.union(gate)
        if union is not None:
            self.union_of[len(self.set_of)] = union
            if sum(self.width(role, bits) for role, bits in union.items()) < len(gate):
                inputs = [self.membership(role, bits) ^ 1 for role, bits in union.items()]
        self.set_of.append(None)
        self.literal_of.append(self.builder.conjunction(inputs))

    def union(self, gate: tuple[int, ...]) -> dict[int, int] | None:
        """The sets of moves one of which is made where a gate is false; None if there are none such."""
        union: dict[int, int] = {}
        for x in gate:
            found = self.set_of[x >> 1]
            if found is not None:
                role, bits = found
                union[role] = union.get(role, 0) | (bits if x & 1 else self.full[role] ^ bits)
                continue
            parts = None if x & 1 else self.union_of.get(x >> 1)
            if parts is None:
                return None
            for role, bits in parts.items():
                union[role] = union.get(role, 0) | bits
        self.room -= sum(self.full[role].bit_length() for role in union)
        return union if self.room > 0 else None

    def width(self, role: int, bits: int) -> int:
        """About how many gate inputs it takes to read whether a role's move is in a set."""
        size = bits.bit_count()
        return 1 + min(size, self.full[role].bit_length() - size)

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

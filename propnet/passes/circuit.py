"""The graph that the passes rewrite: n-ary ANDs over complemented edges, hash-consed, cycles cut open."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

TRUE = 0
FALSE = 1


@dataclass(frozen=True)
class Shape:
    """The layout of the inputs and outputs of a circuit.

    Nodes: 0 is true; then the base propositions, the moves role by role, the *cuts* (atoms at which cycles of
    positive recursion were cut open), and the gates. Outputs: next (one per base), legal (one per move),
    goals, terminal, the definition of each cut. An output that nothing can make true is ``FALSE``. The fields
    are the numbers of each kind, moves by role.
    """

    bases: int
    moves: tuple[int, ...]
    goals: int
    cuts: int

    @property
    def first_move(self) -> int:
        """The node of the first move."""
        return 1 + self.bases

    @property
    def first_cut(self) -> int:
        """The node of the first cut, one past the last move."""
        return self.first_move + sum(self.moves)

    @property
    def first_gate(self) -> int:
        """The node of gate 0."""
        return self.first_cut + self.cuts

    @property
    def first_goal_output(self) -> int:
        """The output of the first goal, one past the last legal."""
        return self.bases + sum(self.moves)

    @property
    def first_cut_output(self) -> int:
        """The output that defines the first cut, one past terminal."""
        return self.first_goal_output + self.goals + 1

    @cached_property
    def role_starts(self) -> list[int]:
        """The node of each role's first move, then one past the last move."""
        return list(accumulate(self.moves, initial=self.first_move))

    def role_of(self, move: int) -> int:
        """The role to which a move's node belongs."""
        return bisect_right(self.role_starts, move) - 1


@dataclass(frozen=True)
class Circuit:
    """A combinational circuit: for each gate the literals of which it is the AND, ascending, of inputs and of
    gates before it, and a literal for each output. The cuts are inputs, and outputs define them."""

    shape: Shape
    gates: list[tuple[int, ...]]
    outputs: list[int]

    @property
    def gate_inputs(self) -> int:
        """The sum of all gates' inputs: the cost of evaluating the circuit."""
        return sum(map(len, self.gates))

    def fanout(self) -> list[int]:
        """The number of gates and outputs that read each node."""
        count = [0] * (self.shape.first_gate + len(self.gates))
        for literals in (*self.gates, self.outputs):
            for literal in literals:
                count[literal >> 1] += 1
        return count

    def with_inputs(self, literals: list[int]) -> Circuit:
        """The circuit rebuilt with other literals in place of its inputs (by node, node 0 first)."""
        builder = CircuitBuilder(self.shape.first_gate)
        literal_of = literals.copy()
        for gate in self.gates:
            literal_of.append(builder.conjunction(replaced(gate, literal_of)))
        return Circuit(self.shape, builder.gates, replaced(self.outputs, literal_of))


@dataclass
class CircuitBuilder:
    """Builds gates from node ``first_gate`` on, each only once (structural hashing, by ``index``: gate -> its
    literal), with the trivial laws applied. Factoring may still visit ``effort`` literals; after that, ORs of
    products are built as they are."""

    first_gate: int
    gates: list[tuple[int, ...]] = field(default_factory=list)
    index: dict[tuple[int, ...], int] = field(default_factory=dict)
    effort: int = 12_000_000

    def conjunction(self, literals: Iterable[int]) -> int:
        """A literal for the AND of some literals: constants, repetitions, complements and
        one-input gates vanish."""
        inputs = set(literals)
        inputs.discard(TRUE)
        if len(inputs) < 2:
            return inputs.pop() if inputs else TRUE
        key = tuple(sorted(inputs))
        existing = self.index.get(key)
        if existing is not None:
            return existing
        if key[0] == FALSE:
            return FALSE
        previous = -1
        for literal in key:
            if literal == previous + 1 and literal & 1:
                return FALSE
            previous = literal
        new = 2 * (self.first_gate + len(self.gates))
        self.gates.append(key)
        self.index[key] = new
        return new

    def disjunction(self, literals: Iterable[int]) -> int:
        """A literal for the OR of some literals."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def inputs_of(self, literal: int) -> tuple[int, ...]:
        """The inputs of the gate below a literal; ``()`` for inputs of the circuit."""
        gate = (literal >> 1) - self.first_gate
        return self.gates[gate] if gate >= 0 else ()


def readers_of(gates: Iterable[Iterable[int]]) -> dict[int, list[int]]:
    """For each literal the numbers of the gates that read it, ascending."""
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for number, gate in enumerate(gates):
        for x in gate:
            readers[x].append(number)
    readers.default_factory = None
    return readers


def replaced(literals: Iterable[int], literal_of: list[int]) -> list[int]:
    """Literals after each node has become the literal ``literal_of[node]``."""
    return [literal_of[x >> 1] ^ (x & 1) for x in literals]


def remove_dead(circuit: Circuit) -> Circuit:
    """The circuit without gates on which no output depends."""
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

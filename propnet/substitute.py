"""Substitution: the gates of a network rebuilt for inputs that have become other literals.

A cone is evaluated once for the usual inputs. For inputs that differ in a few places only the gates above
these are rebuilt. One builder makes all new gates, each only once, so that equal literals are equal
functions whichever inputs they came from (structural hashing). New gates are numbered after the network's
gates that need no move. The gates that need moves have no literals here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush

from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder

Literals = dict[int, int]
"""Node -> the literal that it has become."""


class EffortError(Exception):
    """More effort or more gates than allowed, or positive recursion."""


@dataclass
class Cone:
    """The gates that some nodes depend on.

    Attributes:
        reads: gate's node -> the literals that the gate reads; nodes ascend.
        readers: node -> the gates that read it, ascending.
        usual: node -> its literal for the usual inputs (by default itself).
    """

    reads: dict[int, Sequence[int]]
    readers: dict[int, list[int]]
    usual: Literals = field(default_factory=dict)


class Remake:
    """The gates of a network, and new ones. The nodes of new gates begin at ``end``, one past the last old
    gate that needs no move. ``effort`` is the number of gate inputs that may still be visited; beyond it
    :class:`EffortError` is raised."""

    def __init__(self, network: Network, effort: int) -> None:
        self.network = network
        self.effort = effort
        self.end = network.first_gate + network.base_gates
        self._first = network.first_gate
        self._start: list[int] = network.gate_start.tolist()
        self._inputs: list[int] = network.gate_inputs.tolist()
        self._looping = {
            self._first + gate for low, high in network.loops.tolist() for gate in range(low, high)
        }
        self._builder = CircuitBuilder(self.end)
        for node in range(self._first, self.end):
            self._builder.index.setdefault(tuple(sorted(self._old(node))), 2 * node)

    @property
    def new_gates(self) -> list[tuple[int, ...]]:
        """The new gates: for each, the literals of which it is the AND, ascending."""
        return self._builder.gates

    def conjunction(self, literals: Iterable[int], known: Set[int] = frozenset()) -> int:
        """A literal for the AND of literals, given that the ``known`` ones are true."""
        inputs: list[int] = []
        for x in literals:
            if x ^ 1 in known:
                return FALSE
            if x not in known:
                inputs.append(x)
        return assume(self._builder.conjunction(inputs), known)

    def disjunction(self, literals: Iterable[int]) -> int:
        """A literal for the OR of literals."""
        return self._builder.disjunction(literals)

    def implied(self, literal: int) -> set[int]:
        """The literals that are true if a literal is true: itself, its gate's inputs, and so on."""
        implied: set[int] = set()
        waiting = [literal]
        while waiting:
            x = waiting.pop()
            if x in implied or x <= FALSE:
                continue
            implied.add(x)
            if not x & 1:
                waiting += self.inputs(x >> 1)
        return implied

    def inputs(self, node: int) -> Sequence[int]:
        """The literals of which a gate is the AND, if it is new or needs no move; none for other nodes."""
        if node >= self.end:
            return self._builder.gates[node - self.end]
        return self._old(node) if node >= self._first else ()

    def step(self) -> Cone:
        """The gates that need moves, of all next functions. Raises EffortError on positive recursion."""
        return self._cone(self.network.next_literals.tolist(), self.end, self._old)

    def above_bases(self, literals: Iterable[int]) -> Cone:
        """All gates, old and new, on which literals depend. Raises EffortError on positive recursion."""
        return self._cone(literals, self._first, self.inputs)

    def evaluate(self, cone: Cone, known: Set[int] = frozenset()) -> None:
        """Complete ``usual``, which holds the inputs, by the gates of the cone."""
        usual = cone.usual
        for node, read in cone.reads.items():
            self.spend(len(read))
            usual[node] = self.conjunction([usual.get(x >> 1, x & ~1) ^ (x & 1) for x in read], known)

    def changed(self, cone: Cone, changed: Literals, known: Set[int] = frozenset()) -> Literals:
        """The inputs that have changed and the gates of an evaluated cone that then differ from ``usual``."""
        literal_of = dict(changed)
        usual, readers = cone.usual, cone.readers
        waiting = sorted({reader for node in changed for reader in readers.get(node, ())})
        seen = set(waiting)
        while waiting:
            node = heappop(waiting)
            read = cone.reads[node]
            self.spend(len(read))
            literal = self.conjunction(
                [
                    (literal_of[x >> 1] if x >> 1 in literal_of else usual.get(x >> 1, x & ~1)) ^ (x & 1)
                    for x in read
                ],
                known,
            )
            if literal == usual[node]:
                continue
            literal_of[node] = literal
            for reader in readers.get(node, ()):
                if reader not in seen:
                    seen.add(reader)
                    heappush(waiting, reader)
        return literal_of

    def _cone(self, roots: Iterable[int], lowest: int, inputs: Callable[[int], Sequence[int]]) -> Cone:
        """The gates from node ``lowest`` on, on which some literals depend."""
        inputs_of: dict[int, Sequence[int]] = {}
        old = inputs == self._old
        waiting = [x >> 1 for x in roots if x >> 1 >= lowest]
        while waiting:
            node = waiting.pop()
            if node in inputs_of:
                continue
            if node in self._looping and (old or node < self.end):
                raise EffortError("positive recursion")
            inputs_of[node] = inputs(node)
            waiting += [x >> 1 for x in inputs_of[node] if x >> 1 >= lowest]
        reads = dict(sorted(inputs_of.items()))
        readers: dict[int, list[int]] = {}
        for node, read in reads.items():
            for below in {x >> 1 for x in read}:
                readers.setdefault(below, []).append(node)
        return Cone(reads, readers)

    def _old(self, node: int) -> list[int]:
        gate = node - self._first
        return self._inputs[self._start[gate] : self._start[gate + 1]]

    def spend(self, inputs: int) -> None:
        """Count visited gate inputs. Raises EffortError if these are too many."""
        self.effort -= inputs
        if self.effort < 0:
            raise EffortError("too much effort")


def assume(literal: int, known: Set[int]) -> int:
    """A literal, or its value if the ``known`` literals decide it."""
    return TRUE if literal in known else FALSE if literal ^ 1 in known else literal


def value(literals: Literals, literal: int, known: Set[int] = frozenset()) -> int:
    """A literal after some nodes have become other literals, given that the ``known`` ones are true."""
    return assume(literals.get(literal >> 1, literal & ~1) ^ (literal & 1), known)


@dataclass(frozen=True, slots=True)
class _Cofactors:
    """The next functions for each single move of one role, as G. Boole's cofactors.

    Literals are those of the network up to its gates that need moves, followed by new gates
    (:class:`Remake`); the moves of other roles are open.

    Attributes:
        usual: per base proposition its next function if none of the moves were made.
        changed: per move the base propositions whose next function differs from the usual one, and that
            function.
    """

    usual: list[int]
    changed: list[dict[int, int]]


def cofactors(network: Network, role: int, effort: int) -> tuple[_Cofactors, int]:
    """The cofactors by the moves of a role, and the rest of the effort, in gate inputs. Raises EffortError if
    the effort is not enough, or if there are loops among the gates that need moves."""
    low = 1 + len(network.bases) + sum(map(len, network.moves[:role]))
    moves = range(low, low + len(network.moves[role]))
    next_literals = network.next_literals.tolist()
    outputs: dict[int, list[int]] = {}
    for base, x in enumerate(next_literals):
        outputs.setdefault(x >> 1, []).append(base)
    gates = Remake(network, effort)
    step = gates.step()
    step.usual = dict.fromkeys(moves, FALSE)
    gates.evaluate(step)
    changed = [
        {
            base: literal ^ (next_literals[base] & 1)
            for node, literal in gates.changed(step, {move: TRUE}).items()
            for base in outputs.get(node, ())
        }
        for move in moves
    ]
    return _Cofactors([value(step.usual, x) for x in next_literals], changed), gates.effort

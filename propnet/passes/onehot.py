"""One move per role and turn: a gate that depends on one role's moves alone is a set of moves.

Before that, base propositions and moves that never change become constants: ternary simulation from the
initial state (R. Bryant and C. Seger: Formal verification by symbolic evaluation of trajectories, 1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, remove_dead

OPEN = 2
"""The value of a node that may be true as well as false."""


def constant_latches(circuit: Circuit, initial: NDArray[np.bool_]) -> Circuit:
    """Replace by constants the base propositions that keep their initial value in every state that legal
    moves lead to, and the moves that are legal in none of these states.

    Outputs keep their function in these states: a constant base proposition still has its (constant) output.
    Cuts are assumed to be open. ``initial``, shape (bases,), is the initial state.
    """
    shape = circuit.shape
    values = _values_in_play(circuit, initial)
    inputs = [2 * node for node in range(shape.first_gate)]
    fixed = [node for node in range(1, shape.first_cut) if values[node] != OPEN]
    if not fixed:
        return circuit
    for node in fixed:
        inputs[node] = TRUE if values[node] else FALSE
    rewritten = circuit.with_inputs(inputs)
    for node in fixed:
        if node < shape.first_move:
            rewritten.outputs[node - 1] = inputs[node]
    return remove_dead(rewritten)


def _values_in_play(circuit: Circuit, initial: NDArray[np.bool_]) -> list[int]:
    """Each node's value in all reachable states: 0, 1 or ``OPEN``."""
    # Values start from those of the initial state with no move made and only ever open: moves
    # that are legal, then base propositions that may change, and the nodes that depend on them.
    shape = circuit.shape
    first = shape.first_gate
    gates = circuit.gates
    values: list[int] = [1, *initial.astype(int).tolist(), *[0] * sum(shape.moves), *[OPEN] * shape.cuts]
    # A false gate waits for one false input, the first one, to open; a true one for any input.
    waiting: list[list[int]] = [[] for _ in range(first + len(gates))]
    place = [0] * len(gates)
    for number, gate in enumerate(gates):
        value = 1
        for i, x in enumerate(gate):
            below = values[x >> 1]
            if below == OPEN:
                value = OPEN
            elif below == x & 1:
                value, place[number] = 0, i
                waiting[x >> 1].append(number)
                break
        if value == 1:
            for x in gate:
                waiting[x >> 1].append(number)
        values.append(value)
    # Base propositions and moves (nodes) by the node of their next, or legal.
    latches: dict[int, list[int]] = {}
    for node, x in enumerate(circuit.outputs[: shape.first_goal_output], 1):
        latches.setdefault(x >> 1, []).append(node)

    def open_up(stack: list[int], least: int) -> None:
        while stack:
            node = stack.pop()
            if values[node] == OPEN:
                continue
            values[node] = OPEN
            stack.extend([latch for latch in latches.get(node, ()) if latch >= least])
            for number in waiting[node]:
                gate = gates[number]
                # Another false input of a false gate keeps it false.
                rest = range(place[number] + 1, len(gate)) if values[first + number] == 0 else ()
                for i in rest:
                    if values[gate[i] >> 1] == gate[i] & 1:
                        place[number] = i
                        waiting[gate[i] >> 1].append(number)
                        break
                else:
                    stack.append(first + number)
            waiting[node] = []

    def changes(latch: int) -> bool:
        x = circuit.outputs[latch - 1]
        return values[x >> 1] == OPEN or values[x >> 1] ^ (x & 1) != values[latch]

    open_up([move for move in range(shape.first_move, shape.first_cut) if changes(move)], shape.first_move)
    open_up([base for base in range(1, shape.first_move) if changes(base)], 1)
    return values


_SETS = 8_000_000
"""The most moves that all sets of moves may hold together; further gates are left alone."""


def one_move_per_role(circuit: Circuit) -> Circuit:
    """Use that each role makes exactly one of its moves.

    A gate that reads one role's moves alone tests whether the move made is in a certain set. Sets that meet
    in a gate are intersected. Each set is written as the OR of its moves or as the negated OR of the role's
    other moves, whichever is shorter, so that equal and complementary sets are one gate. An OR of several
    roles' sets is an OR of one set for each role if that has fewer inputs.

    Only gates that depend on moves change. Legal, terminal and goal, which are evaluated before any move is
    made, do not.
    """
    return _MoveSets(circuit).run()


@dataclass(frozen=True)
class _MoveSet:
    """Some of a role's moves (nodes): ``members``, or all but these if ``others``."""

    members: Set[int]
    others: bool

    def negated(self, negate: int) -> _MoveSet:
        """The role's other moves if ``negate``, else the set itself."""
        return _MoveSet(self.members, not self.others) if negate else self


@dataclass
class _Meet:
    """An intersection under construction: ``within`` (None is all moves) without ``without``."""

    within: Set[int] | None = None
    without: set[int] = field(default_factory=set)

    def add(self, moves: _MoveSet) -> None:
        if moves.others:
            self.without.update(moves.members)
        else:
            self.within = moves.members if self.within is None else self.within & moves.members

    def result(self) -> _MoveSet:
        if self.within is None:
            return _MoveSet(self.without, True)
        return _MoveSet(self.within - self.without, False)


class _MoveSets:
    """The circuit under construction."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.shape = shape = circuit.shape
        self.builder = CircuitBuilder(shape.first_gate)
        self.moves = range(shape.first_move, shape.first_cut)
        # Role and set of each old gate that depends on one role's moves alone.
        self.set_of: dict[int, tuple[int, _MoveSet]] = {}
        # If the negation of an old gate means that some role's move is in a set: role -> that set.
        self.union_of: dict[int, dict[int, _MoveSet]] = {}
        self.literal_of = [2 * node for node in range(shape.first_gate)]
        self.room = _SETS

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
            new = self.literal_of[node] = self.membership(*self.set_of[node])
        return new ^ (old & 1)

    def moves_of(self, old: int) -> tuple[int, _MoveSet] | None:
        """The role on whose moves alone an old literal depends, and the moves for which it holds."""
        node = old >> 1
        if node in self.moves:
            return self.shape.role_of(node), _MoveSet({node}, bool(old & 1))
        own = self.set_of.get(node)
        return own and (own[0], own[1].negated(old & 1))

    def add(self, gate: tuple[int, ...]) -> None:
        """Rewrite one gate. A gate that is a set gets its literal only when something reads it."""
        node = len(self.literal_of)
        meets: dict[int, _Meet] = {}
        inputs = []
        for x in gate:
            match self.moves_of(x):
                case None:
                    inputs.append(x)
                case role, moves:
                    meets.setdefault(role, _Meet()).add(moves)
        sets = {role: meet.result() for role, meet in meets.items()}
        self.room -= sum(len(moves.members) for moves in sets.values())
        if len(sets) == 1 and not inputs and self.room > 0:
            self.set_of[node] = next(iter(sets.items()))
            self.literal_of.append(-1)
            return
        union = self.union(sets, inputs)
        if union is not None:
            self.union_of[node] = union
            if sum(self.width(role, moves) for role, moves in union.items()) < len(gate):
                literals = [self.membership(role, moves) ^ 1 for role, moves in union.items()]
                self.literal_of.append(self.builder.conjunction(literals))
                return
        literals = [self.membership(role, moves) for role, moves in sets.items()]
        self.literal_of.append(self.builder.conjunction([*literals, *map(self.literal, inputs)]))

    def union(self, sets: dict[int, _MoveSet], inputs: Iterable[int]) -> dict[int, _MoveSet] | None:
        """The AND of sets and old literals as a negated union: for each role a set of moves such that the AND
        is false if a move of one of these sets is made. None if it cannot be written in this way."""
        meets: dict[int, _Meet] = {}
        for role, moves in sets.items():
            meets.setdefault(role, _Meet()).add(moves)
        for x in inputs:
            inner = None if x & 1 else self.union_of.get(x >> 1)
            if inner is None or self.room < 0:
                return None
            for role, moves in inner.items():
                meets.setdefault(role, _Meet()).add(moves.negated(1))
        union = {role: meet.result().negated(1) for role, meet in meets.items()}
        self.room -= sum(len(moves.members) for moves in union.values())
        return union

    def width(self, role: int, moves: _MoveSet) -> int:
        """The number of gate inputs for a test whether a role's move is in a set, roughly."""
        return 1 + min(len(moves.members), self.shape.moves[role] - len(moves.members))

    def membership(self, role: int, moves: _MoveSet) -> int:
        """A literal for "the role's move is in the set"."""
        members, others = moves.members, moves.others
        size, count = len(members), self.shape.moves[role]
        if size in (0, count):
            return TRUE if others == (size == 0) else FALSE
        if 2 * size > count or (2 * size == count and others):
            members = set(range(*self.shape.role_starts[role : role + 2])) - members
            others = not others
        return self.builder.disjunction([2 * node for node in members]) ^ others

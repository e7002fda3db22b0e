"""One move per role and turn: a gate that depends on one role's moves alone is a set of moves.

Before that, base propositions and moves that never change become constants: ternary simulation from the
initial state (R. Bryant and C. Seger: Formal verification by symbolic evaluation of trajectories, 1995).

Values picked by a role's move are picked once: one multiplexer for many sums. A role makes one move, so for
some of its moves S and all its moves M ``OR[m in S] does(m) & f(m)`` is ``(OR[m in S] does(m)) & (OR[m in M]
does(m) & f(m))``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, remove_dead, replaced

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


_MEMBERS = 3_000_000
"""The most moves that all unions of moves may hold together; further gates are left alone."""

WIDEST = 1 / 3
"""A product picked by a larger share of a role's moves is not a pick: it says which values stay the same."""

CANDIDATES = 3
"""The number of multiplexers with which a sum is compared: those with which it shares most."""

Rest = tuple[int, ...]
Moves = tuple[int, ...]


@dataclass(frozen=True)
class Pick:
    """A product in an OR: one of some moves is made, and a rest."""

    gate: int
    roles: int
    """The number of roles whose moves it names."""
    saved: float
    """Gate inputs that are saved if one role's share of it is removed."""


@dataclass
class Sum:
    """The contribution of one role's moves to one OR, ``gate``, by the products ``picks``. ``rest_of`` maps
    each move (its node) to the number of the rest that it picks."""

    gate: int
    role: int
    rest_of: dict[int, int] = field(default_factory=dict)
    picks: list[Pick] = field(default_factory=list)

    @property
    def moves(self) -> Moves:
        """The moves that pick something."""
        return tuple(sorted(self.rest_of))


@dataclass
class _Multiplexer:
    """Sums of one role that agree on every move that several of them contain."""

    role: int
    rest_of: dict[int, int] = field(default_factory=dict)
    sums: list[Sum] = field(default_factory=list)

    def picked(self) -> dict[int, Moves]:
        """The moves that pick each rest."""
        by_rest: dict[int, list[int]] = {}
        for move, rest in sorted(self.rest_of.items()):
            by_rest.setdefault(rest, []).append(move)
        return {rest: tuple(moves) for rest, moves in by_rest.items()}


def select_once(circuit: Circuit) -> Circuit:
    """Share the values that moves pick between the ORs that pick them.

    Without this pass an arriving piece takes one product for each move and each possible piece. With it the
    piece is read once, at the square from which the move comes, and passed to the square to which it goes.
    """
    return _Selections(circuit).run()


class _Selections:
    """The picks of a circuit's moves; ``rests`` numbers the rests of products."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        shape = circuit.shape
        self.first = shape.first_gate
        self.rests: dict[Rest, int] = {}
        # Literals that hold if one of some moves is made, and the nodes of these moves.
        self.unions = self.find_unions()
        # Whether each node is known before any move is made, or is a move itself.
        self.early = [True] * shape.first_cut + [False] * shape.cuts
        moved = [False] * shape.first_move + [True] * (self.first - shape.first_move)
        for gate in circuit.gates:
            depends = any(moved[x >> 1] for x in gate)
            moved.append(depends)
            self.early.append(not depends)

    def run(self) -> Circuit:
        multiplexers = self.worthwhile(self.multiplexers(self.sums()))
        return self.rewritten(multiplexers) if multiplexers else self.circuit

    def find_unions(self) -> dict[int, Moves]:
        shape = self.circuit.shape
        unions: dict[int, Moves] = {2 * node: (node,) for node in range(shape.first_move, shape.first_cut)}
        room = _MEMBERS
        for number, gate in enumerate(self.circuit.gates):
            if all(x ^ 1 in unions for x in gate):
                members = sorted({node for x in gate for node in unions[x ^ 1]})
                room -= len(members)
                if room < 0:
                    break
                unions[2 * (self.first + number) + 1] = tuple(members)
        return unions

    def sums(self) -> list[Sum]:
        """The sums in which each of a role's moves picks one rest."""
        gates, first = self.circuit.gates, self.first
        unions, shape = self.unions, self.circuit.shape
        fanout = self.circuit.fanout()
        sums = []
        for number, gate in enumerate(gates):
            by_role: dict[int, Sum] = {}
            torn: set[int] = set()  # roles with a move that picks two rests
            for x in gate:
                inner = (x >> 1) - first
                if not x & 1 or inner < 0:
                    continue
                inputs = gates[inner]
                chosen = next((y for y in inputs if y in unions), None)
                if chosen is None:
                    continue
                rest = tuple([y for y in inputs if y != chosen])
                if not all(self.early[y >> 1] or y in unions for y in rest):
                    continue
                picked = self.rests.setdefault(rest, len(self.rests))
                nodes_of: dict[int, list[int]] = {}
                for node in unions[chosen]:
                    nodes_of.setdefault(shape.role_of(node), []).append(node)
                saved = (1 + (len(inputs) if fanout[x >> 1] == 1 else 0)) / len(nodes_of)
                if any(len(nodes) > WIDEST * shape.moves[role] for role, nodes in nodes_of.items()):
                    continue
                for role, nodes in nodes_of.items():
                    own = by_role.get(role)
                    if own is None:
                        own = by_role[role] = Sum(number, role)
                    own.picks.append(Pick(inner, len(nodes_of), saved))
                    if any(own.rest_of.setdefault(node, picked) != picked for node in nodes):
                        torn.add(role)
            sums += [own for role, own in by_role.items() if role not in torn and len(own.picks) > 1]
        return sums

    def multiplexers(self, sums: list[Sum]) -> list[_Multiplexer]:
        """Combine sums, those that pick most first, each where it shares most."""
        multiplexers: list[_Multiplexer] = []
        numbers_of: dict[tuple[int, int], list[int]] = {}
        for own in sorted(sums, key=lambda s: -len(s.picks)):
            rests = dict.fromkeys(own.rest_of.values())
            shared = Counter([number for rest in rests for number in numbers_of.get((own.role, rest), ())])
            for number, _ in shared.most_common(CANDIDATES):
                rest_of = multiplexers[number].rest_of
                if all(rest_of.get(move, rest) == rest for move, rest in own.rest_of.items()):
                    break
            else:
                number = len(multiplexers)
                multiplexers.append(_Multiplexer(own.role))
            for rest in rests:
                numbers = numbers_of.setdefault((own.role, rest), [])
                if number not in numbers:
                    numbers.append(number)
            multiplexers[number].rest_of.update(own.rest_of)
            multiplexers[number].sums.append(own)
        return [multiplexer for multiplexer in multiplexers if len(multiplexer.sums) > 1]

    def worthwhile(self, multiplexers: list[_Multiplexer]) -> list[_Multiplexer]:
        """The multiplexers that reduce the number of gate inputs."""
        rests = list(self.rests)
        moves = self.circuit.shape.moves

        def width(members: Moves, role: int) -> int:
            size = min(len(members), moves[role] - len(members))
            return size if size > 1 else 0

        while True:
            candidates = [(m, m.picked()) for m in multiplexers]
            sets = [{*picked.values(), *[own.moves for own in m.sums]} for m, picked in candidates]
            readers = Counter(chain(*sets))
            multiplexers = []
            for (m, picked), read in zip(candidates, sets, strict=True):
                spent = sum(width(members, m.role) / readers[members] for members in read)
                spent += 3 * len(m.sums) + sum(2 + len(rests[rest]) for rest in picked)
                if sum(pick.saved for own in m.sums for pick in own.picks) > spent:
                    multiplexers.append(m)
            if len(multiplexers) == len(candidates):
                return multiplexers

    def rewritten(self, multiplexers: list[_Multiplexer]) -> Circuit:
        """The circuit in which multiplexers replace the products of their sums."""
        circuit, first = self.circuit, self.first
        builder = CircuitBuilder(first)
        literal_of = [2 * node for node in range(first)] + [-1] * len(circuit.gates)
        rests = list(self.rests)
        sums_at: dict[int, list[tuple[Sum, _Multiplexer]]] = {}
        for multiplexer in multiplexers:
            for own in multiplexer.sums:
                sums_at.setdefault(own.gate, []).append((own, multiplexer))
        values: dict[int, int] = {}

        def one_of(moves: Moves) -> int:
            return builder.disjunction([2 * node for node in moves])

        def value(multiplexer: _Multiplexer) -> int:
            literal = values.get(id(multiplexer))
            if literal is None:
                picked = multiplexer.picked().items()
                products = [[one_of(moves), *replaced(rests[rest], literal_of)] for rest, moves in picked]
                literal = builder.disjunction(map(builder.conjunction, products))
                values[id(multiplexer)] = literal
            return literal

        # A multiplexer's rests come before its first sum.
        stages: list[list[int]] = [[], [], []]
        for number in range(len(circuit.gates)):
            node = first + number
            stages[0 if self.early[node] else 1 if 2 * node + 1 in self.unions else 2].append(number)
        for number in chain(*stages):
            sums = sums_at.get(number, [])
            replaced_roles = Counter([(pick.gate, pick.roles) for own, _ in sums for pick in own.picks])
            gone = {2 * (first + gate) + 1 for (gate, roles), n in replaced_roles.items() if n == roles}
            inputs = replaced([x for x in circuit.gates[number] if x not in gone], literal_of)
            for own, multiplexer in sums:
                inputs.append(builder.conjunction([one_of(own.moves), value(multiplexer)]) ^ 1)
            literal_of[first + number] = builder.conjunction(inputs)
        return remove_dead(Circuit(circuit.shape, builder.gates, replaced(circuit.outputs, literal_of)))

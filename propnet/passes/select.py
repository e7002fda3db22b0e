"""What a role's move picks is picked once: one multiplexer for many sums.

A role makes one move, so for some of its moves S and all its moves M ``OR[m in S] does(m) & f(m)`` is
``(OR[m in S] does(m)) & (OR[m in M] does(m) & f(m))``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain

from propnet.passes.circuit import Builder, Circuit
from propnet.passes.dead import remove_dead

MEMBERS = 3_000_000
"""Most moves that all unions of moves may hold together; gates past that are left alone."""

WIDEST = 1 / 3
"""A product that more of a role's moves pick is no pick: it says what stays as it is."""

CANDIDATES = 3
"""With how many groups, those that it shares most with, a sum is compared."""

Rest = tuple[int, ...]
Moves = tuple[int, ...]


@dataclass(frozen=True)
class Term:
    """A product in an OR: that one of some moves is made, and a rest.

    Attributes:
        gate: the product's gate.
        roles: how many roles' moves it names.
        saved: gate inputs that go with one role's part of it.
    """

    gate: int
    roles: int
    saved: float


@dataclass
class Sum:
    """What one role's moves contribute to one OR.

    Attributes:
        gate: the OR.
        role: the role.
        rest_of: the number of the rest that each move (its node) picks.
        terms: the products that this comes from.
    """

    gate: int
    role: int
    rest_of: dict[int, int] = field(default_factory=dict)
    terms: list[Term] = field(default_factory=list)

    @property
    def moves(self) -> Moves:
        """The moves that pick something."""
        return tuple(sorted(self.rest_of))


@dataclass
class Group:
    """Sums of one role that agree on every move that several of them know."""

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
    """Share what moves pick between the ORs that pick it.

    The piece that arrives with a move takes, without this, a product for each move and each
    piece it might be; with it the piece is read off once, where the move comes from, and
    handed to the square where the move goes.
    """
    return _Selections(circuit).run()


class _Selections:
    """One pass."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        shape = circuit.shape
        self.first = shape.first_gate
        self.starts = [shape.first_move]
        for count in shape.moves:
            self.starts.append(self.starts[-1] + count)
        self.rests: dict[Rest, int] = {}
        self.unions = self.find_unions()
        # What is known before any move is made, or is a move itself.
        self.early = [True] * shape.first_cut + [False] * shape.cuts
        moved = [False] * shape.first_move + [True] * (self.first - shape.first_move)
        for gate in circuit.gates:
            depends = any(moved[x >> 1] for x in gate)
            moved.append(depends)
            self.early.append(not depends)

    def run(self) -> Circuit:
        groups = self.worthwhile(self.grouped(self.sums()))
        return self.rewritten(groups) if groups else self.circuit

    def find_unions(self) -> dict[int, Moves]:
        """Literals that say that one of some moves is made, and the nodes of these moves."""
        shape = self.circuit.shape
        unions: dict[int, Moves] = {2 * node: (node,) for node in range(shape.first_move, shape.first_cut)}
        room = MEMBERS
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
        unions, moves = self.unions, self.circuit.shape.moves
        fanout = self.circuit.fanout()
        found = []
        for number, gate in enumerate(gates):
            sums: dict[int, Sum] = {}
            torn: set[int] = set()
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
                by_role: dict[int, list[int]] = {}
                for node in unions[chosen]:
                    by_role.setdefault(bisect_right(self.starts, node) - 1, []).append(node)
                saved = (1 + (len(inputs) if fanout[x >> 1] == 1 else 0)) / len(by_role)
                if any(len(nodes) > WIDEST * moves[role] for role, nodes in by_role.items()):
                    continue
                for role, nodes in by_role.items():
                    own = sums.get(role)
                    if own is None:
                        own = sums[role] = Sum(number, role)
                    own.terms.append(Term(inner, len(by_role), saved))
                    if any(own.rest_of.setdefault(node, picked) != picked for node in nodes):
                        torn.add(role)
            found += [own for role, own in sums.items() if role not in torn and len(own.terms) > 1]
        return found

    def grouped(self, sums: list[Sum]) -> list[Group]:
        """Sums put together, those first that pick most, each where it shares most."""
        groups: list[Group] = []
        known: dict[tuple[int, int], list[int]] = {}
        for own in sorted(sums, key=lambda s: -len(s.terms)):
            rests = dict.fromkeys(own.rest_of.values())
            shared = Counter([number for rest in rests for number in known.get((own.role, rest), ())])
            for number, _ in shared.most_common(CANDIDATES):
                of = groups[number].rest_of
                if all(of.get(move, rest) == rest for move, rest in own.rest_of.items()):
                    break
            else:
                number = len(groups)
                groups.append(Group(own.role))
            for rest in rests:
                places = known.setdefault((own.role, rest), [])
                if number not in places:
                    places.append(number)
            groups[number].rest_of.update(own.rest_of)
            groups[number].sums.append(own)
        return [group for group in groups if len(group.sums) > 1]

    def worthwhile(self, groups: list[Group]) -> list[Group]:
        """The groups that lower the number of gate inputs."""
        rests = list(self.rests)
        moves = self.circuit.shape.moves

        def width(members: Moves, role: int) -> int:
            size = min(len(members), moves[role] - len(members))
            return size if size > 1 else 0

        while True:
            readers: Counter[Moves] = Counter()
            for group in groups:
                readers.update({*group.picked().values(), *[own.moves for own in group.sums]})
            kept = []
            for group in groups:
                picked = group.picked()
                sets = {*picked.values(), *[own.moves for own in group.sums]}
                spent = sum(width(members, group.role) / readers[members] for members in sets)
                spent += 3 * len(group.sums) + sum(2 + len(rests[rest]) for rest in picked)
                if sum(term.saved for own in group.sums for term in own.terms) > spent:
                    kept.append(group)
            if len(kept) == len(groups):
                return kept
            groups = kept

    def rewritten(self, groups: list[Group]) -> Circuit:
        """The circuit with the products of the groups' sums replaced."""
        circuit, first = self.circuit, self.first
        builder = Builder(first)
        literal_of = [2 * node for node in range(first)] + [-1] * len(circuit.gates)
        rests = list(self.rests)
        group_of = {id(own): group for group in groups for own in group.sums}
        sums_at: dict[int, list[Sum]] = {}
        for group in groups:
            for own in group.sums:
                sums_at.setdefault(own.gate, []).append(own)
        values: dict[int, int] = {}

        def new(x: int) -> int:
            return literal_of[x >> 1] ^ (x & 1)

        def one_of(moves: Moves) -> int:
            return builder.disjunction([2 * node for node in moves])

        def value(group: Group) -> int:
            made = values.get(id(group))
            if made is None:
                picks = group.picked().items()
                products = [[one_of(moves), *map(new, rests[rest])] for rest, moves in picks]
                made = values[id(group)] = builder.disjunction(map(builder.conjunction, products))
            return made

        # A group's rests come before its first sum.
        stages: list[list[int]] = [[], [], []]
        for number in range(len(circuit.gates)):
            node = first + number
            stages[0 if self.early[node] else 1 if 2 * node + 1 in self.unions else 2].append(number)
        for number in chain(*stages):
            sums = sums_at.get(number, [])
            parts = Counter([(term.gate, term.roles) for own in sums for term in own.terms])
            gone = {2 * (first + gate) + 1 for (gate, roles), count in parts.items() if count == roles}
            inputs = [new(x) for x in circuit.gates[number] if x not in gone]
            for own in sums:
                inputs.append(builder.conjunction([one_of(own.moves), value(group_of[id(own)])]) ^ 1)
            literal_of[first + number] = builder.conjunction(inputs)
        return remove_dead(Circuit(circuit.shape, builder.gates, [new(x) for x in circuit.outputs]))

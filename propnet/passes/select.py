"""Values picked by a role's move are picked once: one multiplexer for many sums.

A role makes one move, so for some of its moves S and all its moves M ``OR[m in S] does(m) & f(m)`` is
``(OR[m in S] does(m)) & (OR[m in M] does(m) & f(m))``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain

from propnet.passes.circuit import Circuit, CircuitBuilder, remove_dead, replaced

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

"""Simplification of ground rules in flat arrays: constants, dead and duplicate rules, equivalent atoms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import Edges, Ints

Bool = NDArray[np.bool_]
Int = NDArray[np.int64]


@dataclass
class RuleTable:
    """Rules as flat arrays, in the atoms of one numbering.

    Attributes:
        heads: int, shape (rules,).
        rule_of: int, shape (literals,): the rule that a body literal belongs to, ascending.
        literals: int, shape (literals,): ``2 * atom + negated``.
    """

    heads: Ints
    rule_of: Ints
    literals: Ints

    @property
    def lengths(self) -> Int:
        """The number of literals in each rule's body, int64, shape (rules,)."""
        return np.bincount(self.rule_of, minlength=len(self.heads))

    def keep(self, rules: Bool, literals: Bool | None = None) -> None:
        """Keep only some rules, and of these only some literals."""
        left = rules[self.rule_of]
        if literals is not None:
            left &= literals
        number = np.cumsum(rules) - 1
        self.heads = self.heads[rules]
        self.rule_of = number[self.rule_of[left]]
        self.literals = self.literals[left]


def simplify(table: RuleTable, is_input: Bool, initial: Bool, twin: Int, tick: Callable[[], None]) -> Bool:
    """The atoms that are possible. Drops rules that never fire and literals that always hold, to a fixpoint.

    Per atom, ``is_input`` is true for base propositions and moves, and ``initial`` for base propositions that
    are initially true; ``twin`` holds the next or legal atom of each input, -1 for none. Changes the table in
    place. Calls ``tick`` in each round, which may raise.
    """
    count = len(is_input)
    inputs = np.flatnonzero(is_input)
    fact: Bool = np.zeros(count, np.bool_)
    while True:
        tick()
        possible: Bool = np.zeros(count, np.bool_)
        possible[table.heads] = True
        twins = twin[inputs]
        possible[inputs] = initial[inputs] | ((twins >= 0) & possible[twins])
        bare = table.lengths == 0
        fact[:] = False
        fact[table.heads[bare]] = True
        atoms = table.literals >> 1
        negated = (table.literals & 1).astype(np.bool_)
        sure = np.where(negated, ~possible[atoms], fact[atoms])
        never = np.where(negated, fact[atoms], ~possible[atoms])
        rules = ~fact[table.heads]
        # One of the bare rules of an atom is enough.
        bare_rules = np.flatnonzero(bare)
        rules[bare_rules[np.unique(table.heads[bare_rules], return_index=True)[1]]] = True
        rules[table.rule_of[never]] = False
        if rules.all() and not sure.any():
            return possible
        table.keep(rules, ~sure)


def merge(table: RuleTable, fixed: Bool, tick: Callable[[], None]) -> None:
    """Merge the atoms that have the same rules into one atom, to a fixpoint from the inputs up.

    Relations with arguments that rarely matter have many such atoms: whether the king is threatened once a
    chess piece has left a certain square, for instance. Changes the table in place and drops duplicate rules.
    Atoms that are ``fixed`` (inputs and outputs) stay as they are. Calls ``tick`` in each round, which may
    raise.
    """
    weights = _weights(2 * len(fixed))
    signatures = _signatures(table, weights)
    mixed = _mix(signatures)
    sums = np.zeros(len(fixed), np.uint64)
    np.add.at(sums, table.heads, mixed)
    free: Bool = np.zeros(len(fixed), np.bool_)
    free[table.heads] = True
    free &= ~fixed
    alive: Bool = np.ones(len(table.heads), np.bool_)
    literals = table.literals
    while True:
        tick()
        atoms = np.flatnonzero(free)
        _, chosen, group = np.unique(sums[atoms], return_index=True, return_inverse=True)
        into = np.arange(len(fixed))
        into[atoms] = atoms[chosen[group.reshape(-1)]]
        gone = into != np.arange(len(fixed))
        if not gone.any():
            break
        free &= ~gone
        alive &= ~gone[table.heads]
        places = np.flatnonzero(gone[literals >> 1])
        places = places[alive[table.rule_of[places]]]
        old = literals[places]
        new = literals[places] = 2 * into[old >> 1] + (old & 1)
        rules = table.rule_of[places]
        np.add.at(signatures, rules, weights[new] - weights[old])
        rules = rules[np.concatenate((rules[:1] == rules[:1], rules[1:] != rules[:-1]))]
        before = mixed[rules]
        mixed[rules] = _mix(signatures[rules])
        np.add.at(sums, table.heads[rules], mixed[rules] - before)
    if not alive.all():
        table.keep(alive)


JOINED = 0.5
"""Atoms are joined if at most this share of the literals remains. If few literals are saved, rules factor
better as they are written: checkers with 0.89 of its literals had 4 % more gate inputs."""


def join(table: RuleTable, fixed: Bool) -> None:
    """Join the atoms that rules read in the same way into one atom, to a fixpoint from the outputs down.

    The joined atom gets the rules of all of them: it holds if one of them would.

    ``h :- x, a`` and ``h :- x, b`` mean ``h :- x, (a or b)``. If each rule that reads a has a twin that reads
    b, and the other way round, a and b become one atom. For example, rules that count the pieces of two
    players and in the end only compare the counts come to count the difference. The states of an automaton
    are joined in the same way (E. Moore, 1956).

    Changes the table in place if that makes it clearly smaller, and drops duplicate rules. Atoms that are
    ``fixed`` (inputs and outputs) and atoms that some rule negates stay as they are.
    """
    joining = _Joining(table, fixed)
    changed = np.unique(joining.read)
    if len(np.unique(joining.sums[changed])) == len(changed):
        return
    joining.run(changed)
    left = joining.alive[table.rule_of]
    if np.count_nonzero(left) <= JOINED * len(left):
        table.heads = joining.heads
        table.keep(joining.alive)


class _Joining:
    """Finds the atoms that are read alike. ``sums`` holds for each atom the sum of the hashes of its
    *readings*. A reading is the head of a rule that reads the atom, and the rest of its body."""

    def __init__(self, table: RuleTable, fixed: Bool) -> None:
        self.heads = table.heads.copy()
        atoms = len(fixed)
        weights = _weights(3 * atoms)
        self.head_weights = weights[2 * atoms :]
        read = table.literals >> 1
        self.free = ~fixed
        self.free[read[table.literals & 1 == 1]] = False
        places = np.flatnonzero(self.free[read])
        self.read, self.rule_of = read[places], table.rule_of[places]
        self.own = weights[table.literals[places]]
        self.signatures = _signatures(table, weights) + self.head_weights[table.heads]
        self.sums = np.zeros(atoms, np.uint64)
        np.add.at(self.sums, self.read, self._readings(slice(None)))
        self.alive: Bool = np.ones(len(table.heads), np.bool_)

    def run(self, changed: Ints) -> None:
        """Join atoms until no two are read alike; ``changed`` are all atoms that are free and read."""
        atoms = len(self.free)
        rules, places = np.arange(len(self.heads)), np.arange(len(self.read))
        self.places_of = Edges(len(rules), self.rule_of, places)
        self.readers = Edges(atoms, self.read, self.rule_of)
        self.rules_of = Edges(atoms, self.heads, rules)
        # The atoms that one atom stands for (itself included), and the rules of these by their signatures.
        self.members: dict[int, list[int]] = {}
        self.filed: dict[int, int] = {}
        first_with: dict[int, int] = {}
        while len(changed):
            into: dict[int, int] = {}
            for atom, total in zip(changed.tolist(), self.sums[changed].tolist(), strict=True):
                other = first_with.setdefault(total, atom)
                if other == atom:
                    continue
                if self.free[other] and self.sums[other] == total:
                    into[atom] = other
                else:
                    first_with[total] = atom
            changed = self._joined(into) if into else changed[:0]

    def _readings(self, places: Ints | slice) -> NDArray[np.uint64]:
        """The hashes of the readings at these places, which leave out the atoms there."""
        return _mix(self.signatures[self.rule_of[places]] - self.own[places])

    def _joined(self, into: dict[int, int]) -> Ints:
        """Join atoms to others. Returns the free atoms whose readings have changed."""
        heads = self.heads
        gone = np.fromiter(into, np.int64)
        self.free[gone] = False
        # Every rule that reads a joined atom has a twin that reads the other one.
        dying = np.unique(self.readers.targets(gone))
        touched = [self._retired(dying[self.alive[dying]])]
        fresh = [other for other in dict.fromkeys(into.values()) if other not in self.members]
        self._filed(self._rules(fresh))
        self.members.update((other, [other]) for other in fresh)
        rules = self._rules([x for atom in into for x in self.members.get(atom, (atom,))])
        for atom, other in into.items():
            self.members[other] += self.members.pop(atom, (atom,))
        places = self.places_of.targets(rules)
        np.subtract.at(self.sums, self.read[places], self._readings(places))
        others = np.array([into[atom] for atom in heads[rules].tolist()], np.int64)
        self.signatures[rules] += self.head_weights[others] - self.head_weights[heads[rules]]
        heads[rules] = others
        np.add.at(self.sums, self.read[places], self._readings(places))
        touched += [self.read[places], self._retired(self._filed(rules))]
        atoms = np.unique(np.concatenate(touched))
        changed: Ints = atoms[self.free[atoms]]
        return changed

    def _rules(self, atoms: list[int]) -> Ints:
        """The remaining rules of those that these atoms had at first."""
        rules = self.rules_of.targets(np.array(atoms, np.int64))
        left: Ints = rules[self.alive[rules]]
        return left

    def _filed(self, rules: Ints) -> Ints:
        """File rules of atoms that stand for several. Returns those of the rules that were filed before."""
        double = []
        for rule, signature in zip(rules.tolist(), self.signatures[rules].tolist(), strict=True):
            other = self.filed.setdefault(signature, rule)
            if other == rule:
                continue
            if self.alive[other] and self.signatures[other] == signature:
                double.append(rule)
            else:
                self.filed[signature] = rule
        return np.array(double, np.int64)

    def _retired(self, rules: Ints) -> Ints:
        """Remove rules. Returns the atoms that they have read."""
        places = self.places_of.targets(rules)
        np.subtract.at(self.sums, self.read[places], self._readings(places))
        self.alive[rules] = False
        read: Ints = self.read[places]
        return read


def _signatures(table: RuleTable, weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Per rule the sum of the weights of its body's literals."""
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weights[table.literals], dtype=np.uint64)))
    ends = np.cumsum(table.lengths)
    signatures = running[ends]
    signatures[1:] -= running[ends[:-1]]
    return signatures


def unique(table: RuleTable) -> None:
    """Drop rules that equal an earlier one."""
    rules = len(table.heads)
    if not rules:
        return
    # A rule's signature is a sum of well mixed 64-bit numbers, one per literal and one for the head.
    size = 2 * (int(max(table.heads.max(), (table.literals >> 1).max(initial=0))) + 1)
    weights = _weights(size)
    signatures = _signatures(table, weights)
    signatures += weights[2 * table.heads] * _GOLDEN
    first = np.unique(signatures, return_index=True)[1]
    if len(first) < rules:
        distinct: Bool = np.zeros(rules, np.bool_)
        distinct[first] = True
        table.keep(distinct)


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Pseudorandom numbers, one for each value: the splitmix64 generator (Steele, Lea and Flood 2014)."""
    return _mix(values * _GOLDEN)


def _weights(size: int) -> NDArray[np.uint64]:
    return mixed(np.arange(1, size + 1, dtype=np.uint64))


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

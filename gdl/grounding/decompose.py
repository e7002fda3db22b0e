"""Rule decomposition: a rule is split if that makes fewer and shorter rules.

Variables are eliminated one by one, as along a tree decomposition of the rule's variable graph. Each
elimination moves the literals around a variable into a rule of their own, whose head is an auxiliary atom
with only the variables that the rest shares. Whether that pays is counted on the rule's bindings, not
estimated.

A clause that would have many bindings is split before it is joined: by the same elimination, on estimates.
Sizes follow from the relations as in query planners, which assume that values are spread evenly and
independently.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import FlatAtom, FlatClause, variables_of
from gdl.grounding.join import Bindings
from gdl.grounding.keys import FEW, Coder, Ids, first_rows
from gdl.grounding.relation import Relation

MIN_RULES = 32
"""Clauses with fewer ground rules stay whole."""

GAIN = 0.7
"""A split must bring the number of literals below this share."""


@dataclass
class BoundLiteral:
    """A literal under each binding of a clause: row ids, int32, shape (bindings,)."""

    predicate: int
    ids: Ids
    negated: bool
    variables: frozenset[int]


@dataclass
class BoundClause:
    """A clause with its bindings. ``constraints`` are sets of variables that some static
    literal, distinct or build connects."""

    bindings: Bindings
    head: BoundLiteral
    literals: list[BoundLiteral]
    constraints: list[frozenset[int]]


def decompose(clause: BoundClause, auxiliary: list[int], tick: Callable[[], None]) -> Iterator[BoundClause]:
    """The clause, or the clauses that it is split into. Its bindings must all be different. ``auxiliary``
    (numbers of atoms of the auxiliary predicates -1, -2, ...) grows. ``tick`` is called before each split
    and may raise."""
    todo = [_without_static_variables(clause)]
    while todo:
        tick()
        clause = todo.pop()
        split = _best_split(clause) if clause.bindings.n >= MIN_RULES else None
        if split is None:
            yield clause
            continue
        bag, interior = split
        shared = sorted(bag - interior)
        predicate = -1 - len(auxiliary)
        atoms, count = _number(clause.bindings, shared)
        auxiliary.append(count)
        link = BoundLiteral(predicate, atoms, False, frozenset(shared))
        inner = [x for x in clause.literals if x.variables & interior]
        outer = [x for x in clause.literals if not x.variables & interior]
        inner_constraints = [c for c in clause.constraints if c <= bag]
        outer_constraints = [c for c in clause.constraints if not c & interior]
        rest = frozenset(clause.bindings.env) - interior
        todo.append(_projected(clause, bag, link, inner, inner_constraints))
        todo.append(_projected(clause, rest, clause.head, [*outer, link], outer_constraints))


def _eliminations(
    variables: Iterable[int], head: frozenset[int], edges: list[frozenset[int]]
) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """The ways to eliminate one of some variables: the variables that share an edge with it, which go to a
    new clause, and those of them (none of the head) that then occur nowhere else."""
    tried: set[frozenset[int]] = set()
    for v in variables:
        bag = frozenset[int]().union(*[e for e in edges if v in e])
        if bag not in tried:
            tried.add(bag)
            yield bag, frozenset(u for u in bag - head if all(e <= bag for e in edges if u in e))


def _without_static_variables(clause: BoundClause) -> BoundClause:
    """Merge the constraints around each variable that has been projected away."""
    constraints = [c for c in clause.constraints if len(c) > 1]
    for v in frozenset().union(*constraints) - frozenset(clause.bindings.env):
        around = frozenset().union(*[c for c in constraints if v in c]) - {v}
        constraints = [c for c in constraints if v not in c] + [around]
    return BoundClause(clause.bindings, clause.head, clause.literals, [c for c in constraints if len(c) > 1])


def _best_split(clause: BoundClause) -> tuple[frozenset[int], frozenset[int]] | None:
    """The variables of the auxiliary rule, and those of them that occur only in it."""
    bindings = clause.bindings
    everything = frozenset(bindings.env)
    edges = [x.variables for x in clause.literals] + clause.constraints
    best = None
    least = GAIN * bindings.n * (1 + len(clause.literals))
    head = clause.head.variables
    for bag, interior in _eliminations(everything - head, head, edges):
        if bag == everything:
            continue
        inside = sum(1 for x in clause.literals if x.variables & interior)
        outside = len(clause.literals) - inside + 1
        cost = float(_count(bindings, bag) * (1 + inside))
        if cost < least:
            cost += _count(bindings, everything - interior) * (1 + outside)
        if cost < least:
            best, least = (bag, interior), cost
    return best


def _count(bindings: Bindings, variables: frozenset[int]) -> int:
    """The number of different values that some variables have together."""
    if bindings.n <= FEW:
        return len(set(zip(*[bindings.env[v].tolist() for v in variables], strict=True)))
    return len(first_rows([bindings.env[v] for v in variables], bindings.n))


def _number(bindings: Bindings, variables: list[int]) -> tuple[Ids, int]:
    """Atoms 0, 1, ... for the different values that some variables have together."""
    columns = [bindings.env[v] for v in variables]
    coder = Coder(len(columns))
    coder.learn(columns)
    _, inverse = np.unique(coder.keys(columns, bindings.n), return_inverse=True)
    atoms: NDArray[np.int32] = inverse.reshape(-1).astype(np.int32)
    return atoms, int(atoms.max()) + 1


def _projected(
    clause: BoundClause,
    variables: frozenset[int],
    head: BoundLiteral,
    literals: list[BoundLiteral],
    constraints: list[frozenset[int]],
) -> BoundClause:
    """One side of a split: each different binding of its variables, once."""
    env = {v: c for v, c in clause.bindings.env.items() if v in variables}
    rows = first_rows(list(env.values()), clause.bindings.n)
    head, *literals = [replace(x, ids=x.ids[rows]) for x in (head, *literals)]
    bindings = Bindings(len(rows), {v: c[rows] for v, c in env.items()})
    return BoundClause(bindings, head, literals, constraints)


SPLIT_FROM = 30_000
"""Clauses with fewer expected bindings are joined as they are."""

SPLIT_GAIN = 0.5
"""The estimated number of literals after a split must be below this share."""


class Splitter:
    """Splits clauses. ``dynamic`` is true for predicates that depend on the state or the moves."""

    def __init__(self, relations: list[Relation], dynamic: list[bool]) -> None:
        self.relations = relations
        self.dynamic = dynamic

    def split(
        self, clause: FlatClause, auxiliary: int, force: bool = False
    ) -> tuple[FlatClause, FlatClause] | None:
        """A clause for the new predicate with the index ``auxiliary``, and the clause that reads it; None if
        the clause is better left whole. With ``force`` the clause is split even if that does not pay."""
        if clause.builds:
            return None
        whole = self._rows(clause.positives, self._relevant(clause))
        if whole < SPLIT_FROM and not force:
            return None
        least = (1.0 if force else SPLIT_GAIN) * whole * (1 + len(self._literals(clause)))
        best = None
        edges = [variables_of(atom.args) for atom in (*clause.positives, *clause.negatives)]
        edges += [variables_of(left, right) for left, right in clause.distincts]
        head = variables_of(clause.head.args)
        variables = variables_of(*[p.args for p in clause.positives])
        for bag, interior in _eliminations(sorted(variables - head, reverse=True), head, edges):
            clauses = self._cut(clause, bag, interior, auxiliary)
            if clauses is None:
                continue
            inner, outer = clauses
            shared = {
                v: min(self._column(a, v) for a in inner.positives if v in a.args) for v in inner.head.args
            }
            inside = self._rows(inner.positives, self._relevant(inner))
            atoms = min(inside, prod(shared.values()))
            read = [p for p in outer.positives if p.predicate != auxiliary]
            outside = self._rows(read, self._relevant(outer), (atoms, shared))
            cost = inside * (1 + len(self._literals(inner))) + outside * (1 + len(self._literals(outer)))
            if cost < least:
                best, least = clauses, cost
        return best

    def _cut(
        self, clause: FlatClause, bag: frozenset[int], interior: frozenset[int], auxiliary: int
    ) -> tuple[FlatClause, FlatClause] | None:
        """The two clauses of a split; None if one of them would have nothing to do."""

        def touches(atom: FlatAtom) -> bool:
            return not interior.isdisjoint(atom.args)

        def inside(atom: FlatAtom) -> bool:
            return touches(atom) or (not self.dynamic[atom.predicate] and variables_of(atom.args) <= bag)

        positives = tuple(p for p in clause.positives if inside(p))
        moved = [a for a in (*clause.positives, *clause.negatives) if touches(a)]
        bound = variables_of(*[p.args for p in positives])
        if not any(self.dynamic[a.predicate] for a in moved) or not bag <= bound:
            return None
        head = FlatAtom(auxiliary, tuple(sorted(bag - interior, reverse=True)))
        inner = replace(
            clause,
            head=head,
            positives=positives,
            negatives=tuple(n for n in clause.negatives if inside(n)),
            distincts=tuple(d for d in clause.distincts if variables_of(*d) <= bag),
        )
        outer = replace(
            clause,
            positives=(head, *[p for p in clause.positives if not touches(p)]),
            negatives=tuple(n for n in clause.negatives if not touches(n)),
            distincts=tuple(d for d in clause.distincts if not variables_of(*d) & interior),
        )
        if set(inner.positives) == set(clause.positives) and set(inner.negatives) == set(clause.negatives):
            return None
        return inner, outer

    def _literals(self, clause: FlatClause) -> list[FlatAtom]:
        """The body literals that the ground rules of a clause have."""
        literals = (*clause.positives, *clause.negatives)
        return [a for a in literals if a.predicate >= len(self.dynamic) or self.dynamic[a.predicate]]

    def _relevant(self, clause: FlatClause) -> frozenset[int]:
        """The variables in which ground rules of a clause differ."""
        return variables_of(clause.head.args, *[a.args for a in self._literals(clause)])

    def _column(self, atom: FlatAtom, variable: int) -> int:
        """The number of different values of a variable in a literal."""
        view = self.relations[atom.predicate].view(atom.args)
        order = list(dict.fromkeys(a for a in atom.args if a < 0))
        return max(view.distinct(order.index(variable)), 1)

    def _rows(
        self,
        atoms: Collection[FlatAtom],
        relevant: frozenset[int],
        extra: tuple[float, dict[int, int]] | None = None,
    ) -> float:
        """The estimated number of different bindings of the relevant variables. ``extra`` is
        one more literal, given by its rows and the number of different values per variable."""
        rows = 1.0
        values: dict[int, list[int]] = {}
        for atom in atoms:
            rows *= self.relations[atom.predicate].view(atom.args).n
            for v in variables_of(atom.args):
                values.setdefault(v, []).append(self._column(atom, v))
        if extra is not None:
            rows *= extra[0]
            for v, count in extra[1].items():
                values.setdefault(v, []).append(count)
        most = 1.0
        for v, counts in values.items():
            counts.sort()
            for count in counts[1:]:
                rows /= count
            if v in relevant:
                most *= counts[0]
        return min(rows, most)

"""Rule decomposition: a rule is split where that makes fewer and shorter rules.

Eliminating variables one by one, as along a tree decomposition of the rule's variable graph, moves the
literals around a variable into a rule of their own, whose head is an auxiliary atom with only the variables
that the rest shares. Whether that pays is counted, not estimated, on the rule's own bindings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.joins.bindings import Bindings
from gdl.grounding.joins.keys import FEW, Coder, Ids, first_rows

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
    literal, distinct or build ties together."""

    bindings: Bindings
    head: BoundLiteral
    literals: list[BoundLiteral]
    constraints: list[frozenset[int]]


def decompose(clause: BoundClause, auxiliary: list[int], tick: Callable[[], None]) -> Iterator[BoundClause]:
    """The clause, or the clauses that it is split into. Its bindings must all be different; ``auxiliary``
    (numbers of atoms of the auxiliary predicates -1, -2, ...) grows; ``tick`` is called before each split
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


def eliminations(
    variables: Iterable[int], head: frozenset[int], edges: list[frozenset[int]]
) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """The ways to eliminate one of some variables: the variables that it shares an edge with, which a new
    clause takes over, and those of them (none of the head) that then stand nowhere else."""
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
    """The variables of the auxiliary rule, and those of them that only it has."""
    bindings = clause.bindings
    everything = frozenset(bindings.env)
    edges = [x.variables for x in clause.literals] + clause.constraints
    best = None
    least = GAIN * bindings.n * (1 + len(clause.literals))
    head = clause.head.variables
    for bag, interior in eliminations(everything - head, head, edges):
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
    """How many different values some variables have together."""
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
    """One side of a split: each different binding of its variables once."""
    env = {v: c for v, c in clause.bindings.env.items() if v in variables}
    rows = first_rows(list(env.values()), clause.bindings.n)
    head, *literals = [replace(x, ids=x.ids[rows]) for x in (head, *literals)]
    bindings = Bindings(len(rows), {v: c[rows] for v, c in env.items()})
    return BoundClause(bindings, head, literals, constraints)

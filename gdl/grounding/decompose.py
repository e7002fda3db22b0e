"""Rule decomposition guided by size: a rule is split where that makes fewer and shorter rules.

Eliminating variables one by one (as along a tree decomposition of the rule's variable graph)
moves the literals around a variable into a rule of their own, whose head is an auxiliary atom
that carries only the variables that the rest shares. Whether that pays is not estimated but
counted, on the rule's own bindings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.bindings import Bindings
from gdl.grounding.keys import FEW, Coder, first_rows
from gdl.grounding.relation import Ids

MIN_RULES = 32
"""Clauses with fewer ground rules stay whole."""

GAIN = 0.7
"""A split must bring the number of literals below this share."""


@dataclass
class Literal:
    """A literal under each binding of a clause: row ids, int32, shape (bindings,)."""

    predicate: int
    ids: Ids
    negated: bool
    variables: frozenset[int]


@dataclass
class Clause:
    """A clause with its bindings. ``constraints`` are sets of variables that some static
    literal, distinct or build ties together."""

    bindings: Bindings
    head: Literal
    literals: list[Literal]
    constraints: list[frozenset[int]]


def decompose(clause: Clause, auxiliary: list[int], tick: Callable[[], None]) -> Iterator[Clause]:
    """The clause, or the clauses that it is split into.

    Args:
        clause: what to split; its bindings must all be different.
        auxiliary: numbers of atoms of the auxiliary predicates -1, -2, ...; grows.
        tick: called before each split; may raise.
    """
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
        link = Literal(predicate, atoms, False, frozenset(shared))
        inner = [x for x in clause.literals if x.variables & interior]
        outer = [x for x in clause.literals if not x.variables & interior]
        todo.append(_projected(clause, bag, link, inner, [c for c in clause.constraints if c <= bag]))
        rest = frozenset(clause.bindings.env) - interior
        todo.append(
            _projected(
                clause, rest, clause.head, [*outer, link], [c for c in clause.constraints if not c & interior]
            )
        )


def _without_static_variables(clause: Clause) -> Clause:
    """Merge the constraints around each variable that has been projected away."""
    kept = frozenset(clause.bindings.env)
    constraints = [c for c in clause.constraints if len(c) > 1]
    for v in frozenset().union(*constraints) - kept:
        around = frozenset().union(*[c for c in constraints if v in c]) - {v}
        constraints = [c for c in constraints if v not in c] + [around]
    return Clause(clause.bindings, clause.head, clause.literals, [c for c in constraints if len(c) > 1])


def _best_split(clause: Clause) -> tuple[frozenset[int], frozenset[int]] | None:
    """The variables of the auxiliary rule, and those of them that only it has."""
    bindings = clause.bindings
    everything = frozenset(bindings.env)
    edges = [x.variables for x in clause.literals] + clause.constraints
    best = None
    least = GAIN * bindings.n * (1 + len(clause.literals))
    tried: set[frozenset[int]] = set()
    for v in everything - clause.head.variables:
        bag = frozenset().union(*[e for e in edges if v in e])
        if bag == everything or bag in tried:
            continue
        tried.add(bag)
        interior = frozenset(u for u in bag - clause.head.variables if all(e <= bag for e in edges if u in e))
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
    clause: Clause,
    variables: frozenset[int],
    head: Literal,
    literals: list[Literal],
    constraints: list[frozenset[int]],
) -> Clause:
    """A part of a clause: each different binding of its variables once."""
    env = {v: c for v, c in clause.bindings.env.items() if v in variables}
    rows = first_rows(list(env.values()), clause.bindings.n)

    def cut(x: Literal) -> Literal:
        return Literal(x.predicate, x.ids[rows], x.negated, x.variables)

    return Clause(
        Bindings(len(rows), {v: c[rows] for v, c in env.items()}),
        cut(head),
        [cut(x) for x in literals],
        constraints,
    )

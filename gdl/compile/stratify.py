"""Stratification: the order in which predicates are evaluated, and what each depends on.

Strongly connected components by Tarjan's algorithm (1972), iterative. A component that depends
negatively on itself has no meaning in GDL and is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from gdl.compile.program import FlatClause, Program
from gdl.errors import RulesError
from gdl.terms import DOES, TRUE


class Dependence(IntEnum):
    """What a predicate's extension depends on."""

    STATIC = 0  # on nothing: it is the same in all states
    STATE = 1  # on what is ``true``
    MOVE = 2  # on what the roles ``does``, and maybe on the state


@dataclass(frozen=True, slots=True)
class Stratum:
    """Predicates that are evaluated together.

    Attributes:
        predicates: indexes; more than one only where they recurse through each other.
        clauses: all clauses with such a head.
        recursive: whether some clause reads a predicate of this stratum.
        dependence: what the predicates depend on.
    """

    predicates: tuple[int, ...]
    clauses: tuple[FlatClause, ...]
    recursive: bool
    dependence: Dependence


def stratify(program: Program) -> list[Stratum]:
    """The predicates of a program in evaluation order: a stratum reads earlier strata only (and itself,
    positively). ``true`` and ``does`` are strata without clauses. Raises RulesError, which names a clause,
    where a predicate depends on its own negation."""
    count = len(program.predicates)
    clauses: list[list[FlatClause]] = [[] for _ in range(count)]
    for clause in program.clauses:
        clauses[clause.head.predicate].append(clause)
    reads = [sorted({a.predicate for c in own for a in (*c.positives, *c.negatives)}) for own in clauses]
    dependence = [
        {TRUE: Dependence.STATE, DOES: Dependence.MOVE}.get(p.name, Dependence.STATIC)
        for p in program.predicates
    ]
    strata: list[Stratum] = []
    for component in components(reads):
        members = set(component)
        own = tuple(c for p in component for c in clauses[p])
        for clause in own:
            for atom in clause.negatives:
                if atom.predicate in members:
                    name = program.predicates[atom.predicate].name
                    raise RulesError(
                        f"the relation {name!r} depends on its own negation",
                        clause.place,
                        "break the cycle: rules must be stratified",
                    )
        level = max(dependence[q] for p in component for q in (p, *reads[p]))
        for p in component:
            dependence[p] = level
        recursive = any(a.predicate in members for c in own for a in c.positives)
        strata.append(Stratum(tuple(component), own, recursive, level))
    return strata


def components(reads: list[list[int]]) -> Iterable[list[int]]:
    """Strongly connected components of a graph (node -> nodes that it reads), in an order in which
    each comes after those that it reads; members ascend."""
    order = [-1] * len(reads)
    low = [0] * len(reads)
    on_stack = [False] * len(reads)
    stack: list[int] = []
    counter = 0
    for root in range(len(reads)):
        if order[root] >= 0:
            continue
        todo = [(root, 0)]
        while todo:
            node, position = todo.pop()
            if position == 0:
                order[node] = low[node] = counter
                counter += 1
                stack.append(node)
                on_stack[node] = True
            elif on_stack[child := reads[node][position - 1]]:
                low[node] = min(low[node], low[child])
            for following in range(position, len(reads[node])):
                child = reads[node][following]
                if order[child] < 0:
                    todo += [(node, following + 1), (child, 0)]
                    break
                if on_stack[child]:
                    low[node] = min(low[node], order[child])
            else:
                if low[node] == order[node]:
                    start = len(stack) - 1
                    while stack[start] != node:
                        start -= 1
                    component = stack[start:]
                    del stack[start:]
                    for member in component:
                        on_stack[member] = False
                    yield sorted(component)

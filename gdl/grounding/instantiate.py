"""Instantiation: every rule with all bindings under which its body is reachable.

Runs after reachability, so each clause is joined once over relations that no longer grow, and
every ground rule is made exactly once. Static literals only filter; variables that nothing but
static literals know are projected away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdl.flatten import FlatAtom, FlatClause
from gdl.grounding.decompose import Clause, Literal, decompose
from gdl.grounding.join import Body, TooManyRowsError
from gdl.grounding.reach import Reached
from gdl.grounding.relation import Ids, Relation, first_rows
from gdl.grounding.split import Splitter
from gdl.stratify import Dependence
from gdl.terms import INIT

MANY_ROWS = 3_000_000
"""Joins of more rows are given up and the clause is split, if it can be."""


@dataclass
class Block:
    """The ground rules of one clause.

    Attributes:
        predicate: of the heads.
        heads: int32, shape (rules,): row ids of the heads in their relation.
        literals: (predicate, row ids, negated) of each body literal; int32, shape (rules,);
            -1 where a negated literal's atom is not reachable.
    """

    predicate: int
    heads: Ids
    literals: list[tuple[int, Ids, bool]]


@dataclass
class Instances:
    """All ground rules.

    Attributes:
        blocks: the rules of each clause.
        auxiliary: number of atoms of each auxiliary predicate -1, -2, ... of the decomposition.
            (Those of the splitter have relations and follow on the program's predicates.)
    """

    blocks: list[Block]
    auxiliary: list[int]


def instantiate(reached: Reached) -> Instances:
    """Instantiate all clauses that depend on the state or on moves.

    Raises:
        TooLargeError: past a limit of the budget.
    """
    instances = Instances([], [])
    dynamic = [d is not Dependence.STATIC for d in reached.dependence]
    names = [p.name for p in reached.program.predicates]
    for p, rows in reached.program.facts.items():
        if dynamic[p] and names[p] != INIT:
            columns = [np.array(c, np.int32) for c in zip(*sorted(rows), strict=True)]
            heads = reached.relations[p].find(columns, len(rows))
            instances.blocks.append(Block(p, heads, []))
    splitter = Splitter(reached.relations, dynamic)
    for clause in reached.program.clauses:
        if not dynamic[clause.head.predicate] or names[clause.head.predicate] == INIT:
            continue
        todo = [clause]
        while todo:
            clause = todo.pop()
            parts = splitter.split(clause, len(reached.relations))
            if parts is None:
                reached.joiner.most_rows = MANY_ROWS
                try:
                    _instantiate(clause, reached, dynamic, instances)
                except TooManyRowsError:
                    parts = splitter.split(clause, len(reached.relations), force=True)
                    if parts is None:
                        reached.joiner.most_rows = 1 << 62
                        _instantiate(clause, reached, dynamic, instances)
            if parts is not None:
                # The inner clause is instantiated first: the outer one reads it.
                inner, outer = parts
                reached.relations.append(Relation(len(inner.head.args)))
                dynamic.append(True)
                todo += [outer, inner]
    return instances


def _instantiate(clause: FlatClause, reached: Reached, dynamic: list[bool], instances: Instances) -> None:
    relations = reached.relations
    body = Body(clause, [n for n in clause.negatives if not dynamic[n.predicate]])
    read: list[tuple[FlatAtom, bool]] = [(p, False) for p in clause.positives if dynamic[p.predicate]]
    read += [
        (n, True)
        for n in clause.negatives
        if dynamic[n.predicate] and relations[n.predicate].view(n.args).n
    ]
    relevant = {a for atom, _ in [(clause.head, False), *read] for a in atom.args if a < 0}
    budget = reached.joiner.budget
    bindings = reached.joiner.join(body, relevant)
    if not bindings.n:
        return
    budget.rows(bindings.n, len(read) + 1)
    literals = []
    for atom, negated in read:
        ids = relations[atom.predicate].find(bindings.args(atom.args), bindings.n)
        if not negated or bool((ids >= 0).any()):
            variables = frozenset(a for a in atom.args if a < 0)
            literals.append(Literal(atom.predicate, ids, negated, variables))
    if clause.head.predicate >= len(reached.program.predicates):
        relations[clause.head.predicate].add(bindings.args(clause.head.args), bindings.n)
    heads = relations[clause.head.predicate].find(bindings.args(clause.head.args), bindings.n)
    head = Literal(clause.head.predicate, heads, False, body.head)
    used = body.head.union(*[x.variables for x in literals])
    bindings.env = {v: c for v, c in bindings.env.items() if v in used}
    rows = first_rows(list(bindings.env.values()), bindings.n)
    if len(rows) < bindings.n:
        bindings.take(rows)
        for x in (head, *literals):
            x.ids = x.ids[rows]
    constraints = [
        frozenset(v)
        for v, p in zip(body.variables, body.positives, strict=True)
        if not dynamic[p.predicate]
    ]
    constraints += [c.variables for c in body.checks]
    constraints += [frozenset(a for a in (b.value, *b.args) if a < 0) for b in body.builds]
    for part in decompose(Clause(bindings, head, literals, constraints), instances.auxiliary):
        budget.add_rules(part.bindings.n)
        read_by_part = [(x.predicate, x.ids, x.negated) for x in part.literals]
        instances.blocks.append(Block(part.head.predicate, part.head.ids, read_by_part))

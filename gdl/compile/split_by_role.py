"""Split by role: copies of ``legal`` and ``goal`` for each role, so that a question about one costs one."""

from __future__ import annotations

from dataclasses import replace

from gdl.compile.program import Program
from gdl.compile.shapes import Leaf
from gdl.compile.specialize import bind
from gdl.terms import GOAL, LEGAL, ROLE


def split_by_role(program: Program) -> tuple[Program, dict[tuple[int, int], int]]:
    """The program with a predicate for each role beside each one of ``legal`` and ``goal`` (the same program
    where rules derive the roles), and these predicates: (old one, number of the role's term) -> new one."""
    role_predicates = {p.index for p in program.named(ROLE, 1)}
    if any(c.head.predicate in role_predicates for c in program.clauses):
        return program, {}
    roles = sorted({row[0] for p in role_predicates for row in program.facts.get(p, ()) if row})
    predicates = list(program.predicates)
    clauses = list(program.clauses)
    facts = dict(program.facts)
    by_role: dict[tuple[int, int], int] = {}
    for predicate in (*program.named(LEGAL, 2), *program.named(GOAL, 2)):
        if not isinstance(predicate.shapes[0], Leaf):
            continue
        own = [c for c in program.clauses if c.head.predicate == predicate.index]
        for role in roles:
            index = by_role[predicate.index, role] = len(predicates)
            predicates.append(replace(predicate, index=index, name=f"{predicate.name};{role}"))
            rows = {r for r in program.facts.get(predicate.index, ()) if r[0] == role}
            if rows:
                facts[index] = rows
            for clause in own:
                who = clause.head.args[0]
                if who < 0:
                    clause = bind(clause, {who: role})
                if who < 0 or who == role:
                    clauses.append(replace(clause, head=replace(clause.head, predicate=index)))
    return Program(predicates, facts, clauses, program.table), by_role

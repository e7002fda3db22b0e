"""Split by role: each role gets its own copies of ``legal`` and ``goal``.

What is asked of one role is then not computed for all.
"""

from __future__ import annotations

from dataclasses import replace

from gdl.compile.program import FlatClause, Program
from gdl.compile.shapes import Leaf
from gdl.compile.specialize import bind
from gdl.terms import GOAL, LEGAL, ROLE


def split_by_role(program: Program) -> tuple[Program, dict[tuple[int, int], int]]:
    """The program with a predicate for each role beside each one of ``legal`` and ``goal``; the
    same program where roles are derived by rules.

    Returns:
        The program, and the new predicates: (old one, number of the role's term) -> new one.
    """
    roles = sorted({row[0] for p in program.named(ROLE, 1) for row in program.facts.get(p.index, ()) if row})
    derived = {c.head.predicate for c in program.clauses}
    if any(p.index in derived for p in program.named(ROLE, 1)):
        return program, {}
    predicates = list(program.predicates)
    clauses = list(program.clauses)
    facts = dict(program.facts)
    found: dict[tuple[int, int], int] = {}
    for predicate in (*program.named(LEGAL, 2), *program.named(GOAL, 2)):
        if not isinstance(predicate.shapes[0], Leaf):
            continue
        own = [c for c in program.clauses if c.head.predicate == predicate.index]
        for role in roles:
            index = found[predicate.index, role] = len(predicates)
            predicates.append(replace(predicate, index=index, name=f"{predicate.name};{role}"))
            rows = {r for r in program.facts.get(predicate.index, ()) if r[0] == role}
            if rows:
                facts[index] = rows
            for clause in own:
                bound = _for_role(clause, index, role)
                if bound is not None:
                    clauses.append(bound)
    return Program(predicates, facts, clauses, program.table), found


def _for_role(clause: FlatClause, predicate: int, role: int) -> FlatClause | None:
    """A clause of ``legal`` or ``goal`` for one role; None where it is for another."""
    who = clause.head.args[0]
    if who >= 0:
        bound = clause if who == role else None
    else:
        bound = bind(clause, {who: role})
    return None if bound is None else replace(bound, head=replace(bound.head, predicate=predicate))

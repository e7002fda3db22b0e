"""Specialization: predicates whose clauses all fix a column are split by that constant.

``(<= (goal ?r 0) (not (goal ?r 100)))`` makes goal depend on its own negation, yet goal 0 depends
on goal 100 only. Public games are full of such rules; the split stratifies them.

``legal`` and ``goal`` are copied for each role, so that a question about one role costs only its share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, product

from gdl.compile.program import (
    MAX_FLAT_CLAUSES,
    Constant,
    FlatAtom,
    FlatClause,
    Function,
    Leaf,
    Predicate,
    Program,
    Shape,
)
from gdl.compile.stratify import components
from gdl.errors import TooLargeError
from gdl.terms import GOAL, LEGAL, ROLE


def specialize(program: Program) -> Program:
    """The program with the predicates in negative cycles split by constants, as far as that is possible.

    Without such predicates the program itself. Raises TooLargeError if the clauses multiply beyond the limit
    of :mod:`gdl.compile.program`.
    """
    while True:
        for predicate in sorted(_negative_cycles(program)):
            column = _fixed_column(program, predicate)
            if column is not None:
                program = _split(program, predicate, column)
                break
        else:
            return program


def _negative_cycles(program: Program) -> set[int]:
    """The predicates of all components that depend negatively on themselves."""
    reads: list[set[int]] = [set() for _ in program.predicates]
    for clause in program.clauses:
        reads[clause.head.predicate].update(a.predicate for a in (*clause.positives, *clause.negatives))
    component_of = {p: members for members in components([sorted(r) for r in reads]) for p in members}
    cycles: set[int] = set()
    for clause in program.clauses:
        members = component_of[clause.head.predicate]
        if any(component_of[n.predicate] is members for n in clause.negatives):
            cycles.update(members)
    return cycles


def _fixed_column(program: Program, predicate: int) -> int | None:
    """A column with constants, at least two different ones, in the heads of all clauses of a predicate."""
    heads = [c.head.args for c in program.clauses if c.head.predicate == predicate]
    heads.extend(program.facts.get(predicate, ()))
    for column in range(program.predicates[predicate].arity):
        values = {h[column] for h in heads}
        if len(values) > 1 and min(values) >= 0:
            return column
    return None


def _split(program: Program, predicate: int, column: int) -> Program:
    """Replace a predicate by one predicate without the column for each of the column's constants."""
    old = program.predicates[predicate]
    old_facts = program.facts.get(predicate, ())
    heads = [c.head.args for c in program.clauses if c.head.predicate == predicate]
    values = sorted({row[column] for row in (*heads, *old_facts)})
    predicates = list(program.predicates)
    # The first new predicate takes the index of the old one, so that indexes stay dense.
    indexes = [predicate, *range(len(predicates), len(predicates) + len(values) - 1)]
    new = [
        Predicate(index, old.name, _fix(old.shapes, column, value), old.arity - 1)
        for index, value in zip(indexes, values, strict=True)
    ]
    predicates[predicate] = new[0]
    predicates += new[1:]
    number = dict(zip(values, indexes, strict=True))

    def cut(atom: FlatAtom) -> FlatAtom | None:
        """The atom without the column; None if no clause has its constant."""
        if atom.predicate != predicate:
            return atom
        index = number.get(atom.args[column])
        return None if index is None else FlatAtom(index, atom.args[:column] + atom.args[column + 1 :])

    clauses: dict[FlatClause, None] = {}
    for clause in program.clauses:
        for instance in _instances(clause, predicate, column, values):
            head = cut(instance.head)
            positives = tuple([atom for a in instance.positives if (atom := cut(a)) is not None])
            negatives = tuple([atom for a in instance.negatives if (atom := cut(a)) is not None])
            if head is not None and len(positives) == len(instance.positives):
                clauses[replace(instance, head=head, positives=positives, negatives=negatives)] = None
                if len(clauses) > MAX_FLAT_CLAUSES:
                    raise TooLargeError("the rules multiply out to too many clauses")
    facts = {p: rows for p, rows in program.facts.items() if p != predicate}
    for row in old_facts:
        facts.setdefault(number[row[column]], set()).add(row[:column] + row[column + 1 :])
    for clause in clauses:
        if not clause.has_body:
            facts.setdefault(clause.head.predicate, set()).add(clause.head.args)
    return Program(predicates, facts, [c for c in clauses if c.has_body], program.table)


def _instances(clause: FlatClause, predicate: int, column: int, values: list[int]) -> Iterator[FlatClause]:
    """The clause for each choice of constants for its variables in the column of the predicate."""
    own = [a for a in (*clause.positives, *clause.negatives) if a.predicate == predicate]
    free = sorted({a.args[column] for a in own if a.args[column] < 0})
    positive = {a.args[column] for a in clause.positives if a.predicate == predicate}
    for choice in product(*([*values] if v in positive else [*values, None] for v in free)):
        # None: the variable equals none of the constants.
        excluded = [v for v, value in zip(free, choice, strict=True) if value is None]
        instance = bind(clause, {v: c for v, c in zip(free, choice, strict=True) if c is not None})
        if excluded:  # then negations of the predicate with such a variable in the column hold
            differ = [((v,), (value,)) for v in excluded for value in values]
            negatives = [
                n for n in instance.negatives if n.predicate != predicate or n.args[column] not in excluded
            ]
            distincts = (*instance.distincts, *differ)
            instance = replace(instance, negatives=tuple(negatives), distincts=distincts)
        if all(left != right for left, right in instance.distincts):
            yield instance


def bind(clause: FlatClause, values: dict[int, int]) -> FlatClause:
    """The clause with some variables replaced by constants (their numbers stay unused)."""
    if not values:
        return clause

    def value(arg: int) -> int:
        return values.get(arg, arg)

    def atom(a: FlatAtom) -> FlatAtom:
        return FlatAtom(a.predicate, tuple(map(value, a.args)))

    return replace(
        clause,
        head=atom(clause.head),
        positives=tuple(map(atom, clause.positives)),
        negatives=tuple(map(atom, clause.negatives)),
        distincts=tuple((tuple(map(value, a)), tuple(map(value, b))) for a, b in clause.distincts),
        builds=tuple(replace(b, value=value(b.value), args=tuple(map(value, b.args))) for b in clause.builds),
    )


def _fix(shapes: tuple[Shape, ...], column: int, value: int) -> tuple[Shape, ...]:
    """The shapes with the leaf of one column replaced by a constant."""
    numbers = count()

    def fix(shape: Shape) -> Shape:
        if isinstance(shape, Leaf):
            return Constant(value) if next(numbers) == column else shape
        if isinstance(shape, Function):
            return Function(shape.name, tuple([fix(a) for a in shape.args]))
        return shape

    return tuple([fix(s) for s in shapes])


def split_by_role(program: Program) -> tuple[Program, dict[tuple[int, int], int]]:
    """The program with one copy of each predicate of ``legal`` and ``goal`` per role, and the map
    (predicate, number of the role's term) -> copy. If rules derive the roles, the program itself and an empty
    map."""
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
                term = clause.head.args[0]
                if term < 0:
                    clause = bind(clause, {term: role})
                if term < 0 or term == role:
                    clauses.append(replace(clause, head=replace(clause.head, predicate=index)))
    return Program(predicates, facts, clauses, program.table), by_role

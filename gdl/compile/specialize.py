"""Specialization: predicates whose clauses all fix a column are split by that constant.

``(<= (goal ?r 0) (not (goal ?r 100)))`` makes goal depend on its own negation, yet goal 0 only
depends on goal 100. Splitting such predicates by their constants stratifies the rules that
public games are full of.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from gdl.compile.program import MAX_FLAT_CLAUSES, FlatAtom, FlatClause, Predicate, Program
from gdl.compile.shapes import Constant, Function, Leaf, Shape
from gdl.compile.stratify import components
from gdl.errors import TooLargeError


def specialize(program: Program) -> Program:
    """The program with the predicates in negative cycles split by constants, as far as it
    goes; the same program where nothing is to be split.

    Raises:
        TooLargeError: the clauses multiply beyond the limit of :mod:`gdl.compile.program`.
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
    component_of = [0] * len(reads)
    found = list(components([sorted(r) for r in reads]))
    for number, members in enumerate(found):
        for member in members:
            component_of[member] = number
    negative = {
        component_of[clause.head.predicate]
        for clause in program.clauses
        if any(component_of[n.predicate] == component_of[clause.head.predicate] for n in clause.negatives)
    }
    return {member for number in negative for member in found[number]}


def _fixed_column(program: Program, predicate: int) -> int | None:
    """A column that holds a constant in the heads of all clauses of a predicate, two
    different ones at least."""
    heads = [c.head.args for c in program.clauses if c.head.predicate == predicate]
    heads.extend(program.facts.get(predicate, ()))
    for column in range(program.predicates[predicate].arity):
        values = {h[column] for h in heads}
        if len(values) > 1 and min(values) >= 0:
            return column
    return None


def _split(program: Program, predicate: int, column: int) -> Program:
    """Replace a predicate by one without the column for each of the column's constants."""
    old = program.predicates[predicate]
    values = sorted(
        {c.head.args[column] for c in program.clauses if c.head.predicate == predicate}
        | {row[column] for row in program.facts.get(predicate, ())}
    )
    predicates = list(program.predicates)
    number: dict[int, int] = {}
    for value in values:
        # The first one takes the place of the old predicate, so that indexes stay dense.
        index = predicate if not number else len(predicates)
        shapes = _fix(old.shapes, column, value)
        new = Predicate(index, old.name, shapes, old.arity - 1)
        if index == predicate:
            predicates[index] = new
        else:
            predicates.append(new)
        number[value] = index

    def cut(atom: FlatAtom) -> FlatAtom | None:
        """The atom without the column; None where the constant has no clause at all."""
        if atom.predicate != predicate:
            return atom
        index = number.get(atom.args[column])
        if index is None:
            return None
        return FlatAtom(index, atom.args[:column] + atom.args[column + 1 :])

    clauses: dict[FlatClause, None] = {}
    for clause in program.clauses:
        # A variable in the column may be any of the constants: one clause for each.
        free = sorted(
            {
                a.args[column]
                for a in (*clause.positives, *clause.negatives)
                if a.predicate == predicate and a.args[column] < 0
            }
        )
        asked = {a.args[column] for a in clause.positives if a.predicate == predicate}
        for choice in product(*([*values] if v in asked else [*values, None] for v in free)):
            others = [v for v, value in zip(free, choice, strict=True) if value is None]
            bound = bind(clause, {v: c for v, c in zip(free, choice, strict=True) if c is not None})
            if others:
                bound = _exclude(bound, predicate, column, others, values)
            head = cut(bound.head)
            positives = [cut(a) for a in bound.positives]
            negatives = [n for a in bound.negatives if (n := cut(a)) is not None]
            if head is None or None in positives or not _may_differ(bound):
                continue
            written = replace(
                bound,
                head=head,
                positives=tuple(a for a in positives if a is not None),
                negatives=tuple(negatives),
            )
            clauses[written] = None
            if len(clauses) > MAX_FLAT_CLAUSES:
                raise TooLargeError("the rules multiply out to too many clauses")
    facts = {p: rows for p, rows in program.facts.items() if p != predicate}
    for row in program.facts.get(predicate, ()):
        facts.setdefault(number[row[column]], set()).add(row[:column] + row[column + 1 :])
    kept: list[FlatClause] = []
    for clause in clauses:
        if clause.positives or clause.negatives or clause.distincts or clause.builds:
            kept.append(clause)
        else:
            facts.setdefault(clause.head.predicate, set()).add(clause.head.args)
    return Program(predicates, facts, kept, program.table)


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


def _exclude(
    clause: FlatClause, predicate: int, column: int, variables: list[int], values: list[int]
) -> FlatClause:
    """The clause where some variables have none of the constants, so that negations of the
    predicate with one of them in the column hold anyway."""
    differ = tuple(((v,), (value,)) for v in variables for value in values)
    negatives = tuple(
        n for n in clause.negatives if n.predicate != predicate or n.args[column] not in variables
    )
    return replace(clause, negatives=negatives, distincts=(*clause.distincts, *differ))


def _may_differ(clause: FlatClause) -> bool:
    """Whether no distinct compares the same columns on both sides."""
    return all(a != b for a, b in clause.distincts)


def _fix(shapes: tuple[Shape, ...], column: int, value: int) -> tuple[Shape, ...]:
    """The shapes with the leaf of one column replaced by a constant."""
    counter = iter(range(1_000_000))

    def fix(shape: Shape) -> Shape:
        if isinstance(shape, Leaf):
            return Constant(value) if next(counter) == column else shape
        if isinstance(shape, Function):
            return Function(shape.name, tuple([fix(a) for a in shape.args]))
        return shape

    return tuple([fix(s) for s in shapes])

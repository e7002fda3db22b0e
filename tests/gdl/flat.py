"""Flat programs as rules again, for the naive evaluator (those without builds)."""

from __future__ import annotations

from gdl.compile.program import FlatAtom, FlatClause, Program
from gdl.rules import Literal, Or, Rule, Rules
from gdl.terms import Term
from tests.gdl.naive import as_rule, model


def _atom(flat: FlatAtom) -> Term:
    return Term(f"p{flat.predicate}", *map(_argument, flat.args))


def _argument(arg: int) -> Term:
    return Term(f"{arg}") if arg >= 0 else Term(f"?v{-1 - arg}")


def _differ(left: tuple[int, ...], right: tuple[int, ...]) -> Or:
    pairs = zip(left, right, strict=True)
    return Or(tuple(Literal(Term("distinct", *map(_argument, pair))) for pair in pairs))


def _rule(clause: FlatClause) -> Rule:
    assert not clause.builds
    distincts = [_differ(left, right) for left, right in clause.distincts]
    return as_rule(_atom(clause.head), map(_atom, clause.positives), map(_atom, clause.negatives), distincts)


def flat_model(program: Program, true: set[Term]) -> set[Term]:
    """All atoms of a flat program, as atoms of the game, where some ``true`` ones hold."""
    rules = [_rule(c) for c in program.clauses]
    rules += [Rule(_atom(FlatAtom(p, row))) for p, rows in program.facts.items() for row in rows]
    places = [place for t in true if (place := program.row(t)) is not None]
    atoms = model(Rules(tuple(rules)), [_atom(FlatAtom(*place)) for place in places])
    return {program.atom(int(a.name[1:]), tuple(int(arg.name) for arg in a.args)) for a in atoms}

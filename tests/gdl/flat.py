"""Flat programs as rules again, for the naive evaluator (those without builds)."""

from __future__ import annotations

from gdl.compile.program import FlatAtom, FlatClause, Program
from gdl.rules import Literal, Not, Or, Rule, Rules
from gdl.terms import Term
from tests.gdl.naive import model


def atom(found: FlatAtom) -> Term:
    return Term(f"p{found.predicate}", *map(_argument, found.args))


def _argument(arg: int) -> Term:
    return Term(f"{arg}") if arg >= 0 else Term(f"?v{-1 - arg}")


def _rule(clause: FlatClause) -> Rule:
    assert not clause.builds
    return Rule(
        atom(clause.head),
        (
            *(Literal(atom(a)) for a in clause.positives),
            *(Not(Literal(atom(a))) for a in clause.negatives),
            *(
                Or(
                    tuple(
                        Literal(Term("distinct", *map(_argument, p))) for p in zip(left, right, strict=True)
                    )
                )
                for left, right in clause.distincts
            ),
        ),
    )


def flat_model(program: Program, true: set[Term]) -> set[Term]:
    """All atoms of a flat program, as atoms of the game, where some ``true`` ones hold."""
    rules = [_rule(c) for c in program.clauses]
    rules += [Rule(atom(FlatAtom(p, row))) for p, rows in program.facts.items() for row in rows]
    given = [place for t in true if (place := program.row(t)) is not None]
    found = model(Rules(tuple(rules)), [atom(FlatAtom(*place)) for place in given])
    return {program.atom(int(a.name[1:]), tuple(int(arg.name) for arg in a.args)) for a in found}

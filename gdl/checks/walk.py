"""Walks over rules: the literals of a body, the atoms of a rule, the terms in an atom."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.errors import Place
from gdl.rules import Literal, Rule, literals
from gdl.terms import Term

Signature = tuple[str, int]
"""Name and arity."""


def body_literals(rule: Rule) -> Iterator[tuple[Literal, bool]]:
    """Every literal of a rule's body with its sign: False under an odd number of negations."""
    for formula in rule.body:
        yield from literals(formula)


def atoms_of(rule: Rule) -> Iterator[tuple[Term, Place]]:
    """The head of a rule and the atoms of its body."""
    yield rule.head, rule.place
    for literal, _ in body_literals(rule):
        yield literal.atom, literal.place


def subterms(atom: Term) -> Iterator[Term]:
    """The arguments of an atom, their arguments, and so on."""
    todo = list(atom.args)
    while todo:
        term = todo.pop()
        yield term
        todo.extend(term.args)

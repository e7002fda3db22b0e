"""Demand: relations that are too large to be solved whole are solved as far as clauses read them.

The magic sets transformation (Bancilhon, Maier, Sagiv and Ullman 1986) for some chosen predicates: a *demand*
predicate lists the values of those arguments that are known whenever the predicate is read; its clauses come
from the clauses that read, and the predicate's own clauses read it in turn. Since reachability ignores
negations of what depends on the state, a negated literal reads like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gdl.compile.program import LEAF, FlatAtom, FlatClause, Predicate, Program, variables_of
from gdl.compile.stratify import Dependence
from gdl.terms import DOES, GOAL, INIT, LEGAL, NEXT, ROLE, SEES, TERMINAL, TRUE

WHOLE = (ROLE, INIT, TRUE, NEXT, LEGAL, DOES, GOAL, TERMINAL, SEES)
"""Relations that are always needed whole."""


@dataclass(frozen=True)
class Restriction:
    """A program in which some predicates are only solved on demand.

    Attributes:
        program: has the demand predicates at the end.
        demand: predicate -> its demand predicate.
        late: static predicates that read a restricted one, so that they cannot be solved before reachability.
    """

    program: Program
    demand: dict[int, int]
    late: frozenset[int]


def restrict(program: Program, dependence: Sequence[Dependence], chosen: set[int]) -> Restriction:
    """Put the chosen predicates, and what reads them, on demand. :attr:`Restriction.demand` lacks those that
    cannot be."""
    eligible: set[int] = set()
    for p in sorted(chosen):
        eligible |= _eligible(program, dependence, p)
    bound = _bound_places(program, eligible)
    while not all(bound.values()):
        eligible = {p for p in eligible if bound[p]}
        bound = _bound_places(program, eligible)
    late = {q for p in eligible for q in _readers(program, p) if dependence[q] is Dependence.STATIC}
    demand = {p: len(program.predicates) + i for i, p in enumerate(sorted(eligible))}
    predicates = list(program.predicates)
    for p, index in demand.items():
        arity = len(bound[p])
        predicates.append(Predicate(index, f"demand;{p}", (LEAF,) * arity, arity))

    def demanded(atom: FlatAtom) -> FlatAtom:
        return FlatAtom(demand[atom.predicate], tuple(atom.args[i] for i in bound[atom.predicate]))

    facts = dict(program.facts)
    clauses: dict[FlatClause, None] = {}
    for clause in program.clauses:
        own = [demanded(clause.head)] if clause.head.predicate in demand else []
        for atom, known, literals in _questions(clause, bound):
            head = demanded(atom)
            positives = [*own, *literals]
            if not positives:
                facts.setdefault(head.predicate, set()).add(head.args)
            elif head not in positives:
                static = [n for n in clause.negatives if dependence[n.predicate] is Dependence.STATIC]
                question = replace(
                    clause,
                    head=head,
                    positives=tuple(dict.fromkeys(positives)),
                    negatives=tuple(n for n in static if variables_of(n.args) <= known),
                    distincts=tuple(d for d in clause.distincts if variables_of(*d) <= known),
                    builds=(),
                )
                clauses[question] = None
        clauses[replace(clause, positives=(*own, *clause.positives))] = None
    return Restriction(Program(predicates, facts, list(clauses), program.table), demand, frozenset(late))


def _readers(program: Program, predicate: int) -> set[int]:
    """The predicates that depend on one, itself among them."""
    readers = {predicate}
    while True:
        more = {
            c.head.predicate
            for c in program.clauses
            if any(a.predicate in readers for a in (*c.positives, *c.negatives))
        }
        if more <= readers:
            return readers
        readers |= more


def _eligible(program: Program, dependence: Sequence[Dependence], predicate: int) -> set[int]:
    """A predicate and those of its readers that can be solved on demand; none if it cannot. Static predicates
    must not be read under a negation: that needs their complement before reachability is done."""
    readers = _readers(program, predicate)
    names = {program.predicates[p].name for p in readers}
    if names & {ROLE, INIT} or program.predicates[predicate].name in WHOLE:
        return set()
    static = {p for p in readers if dependence[p] is Dependence.STATIC}
    if any(n.predicate in static for c in program.clauses for n in c.negatives):
        return set()
    return {p for p in readers if program.predicates[p].name not in WHOLE}


Question = tuple[FlatAtom, frozenset[int], list[FlatAtom]]
"""A literal of a restricted predicate, the variables known by then, and the literals that give them."""


def _questions(clause: FlatClause, bound: dict[int, tuple[int, ...]]) -> Iterator[Question]:
    """The literals of a clause that read restricted predicates."""
    head = clause.head
    whole = head.predicate not in bound
    known = frozenset[int]() if whole else variables_of([head.args[i] for i in bound[head.predicate]])
    literals: list[FlatAtom] = []
    waiting = list(clause.positives)
    while True:
        # First the unrestricted literals that share a variable with what is known.
        progress = True
        while progress:
            progress = False
            for atom in list(waiting):
                variables = variables_of(atom.args)
                if atom.predicate not in bound and (whole or not variables or known & variables):
                    waiting.remove(atom)
                    literals.append(atom)
                    known |= variables
                    progress = True
        restricted = next((a for a in waiting if a.predicate in bound), None)
        if restricted is None:
            break
        yield restricted, known, list(literals)
        waiting.remove(restricted)
        literals.append(restricted)
        known |= variables_of(restricted.args)
    literals += waiting
    known |= variables_of(*[atom.args for atom in waiting])
    for atom in clause.negatives:
        if atom.predicate in bound:
            yield atom, known, list(literals)


def _bound_places(program: Program, restricted: set[int]) -> dict[int, tuple[int, ...]]:
    """Per restricted predicate the arguments that are known wherever it is read."""
    bound = {p: tuple(range(program.predicates[p].arity)) for p in restricted}
    changed = True
    while changed:
        changed = False
        for clause in program.clauses:
            for atom, known, _ in _questions(clause, bound):
                p = atom.predicate
                places = tuple(i for i in bound[p] if atom.args[i] >= 0 or atom.args[i] in known)
                if places != bound[p]:
                    bound[p] = places
                    changed = True
    return bound

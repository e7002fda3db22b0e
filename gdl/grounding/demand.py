"""Demand: relations that are too large to be solved whole are solved as far as they are asked.

The magic sets transformation (Bancilhon, Maier, Sagiv and Ullman 1986) for some chosen
predicates: a *demand* predicate lists the values of those arguments that are known whenever
the predicate is asked for; its clauses come from the places that ask, and the predicate's own
clauses read it. Since reachability ignores negations of what depends on the state, asking
under a negation is asking like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gdl.compile.program import FlatAtom, FlatClause, Predicate, Program
from gdl.compile.shapes import LEAF
from gdl.compile.stratify import Dependence
from gdl.terms import DOES, GOAL, INIT, LEGAL, NEXT, ROLE, TERMINAL, TRUE

WHOLE = (ROLE, INIT, TRUE, NEXT, LEGAL, DOES, GOAL, TERMINAL)
"""Relations that are always needed whole."""


@dataclass(frozen=True)
class Restriction:
    """A program in which some predicates are only solved on demand.

    Attributes:
        program: the program with the demand predicates at the end.
        demand: predicate -> its demand predicate.
        late: static predicates that read a restricted one, so that they cannot be solved
            before reachability.
    """

    program: Program
    demand: dict[int, int]
    late: frozenset[int]


def restrict(program: Program, dependence: Sequence[Dependence], chosen: set[int]) -> Restriction:
    """Put predicates, and what reads them, on demand. Those of them that cannot be are left
    out of :attr:`Restriction.demand`.

    Args:
        program: the program.
        dependence: per predicate.
        chosen: the predicates that turned out too large.
    """
    eligible: set[int] = set()
    for p in sorted(chosen):
        eligible |= _eligible(program, dependence, p)
    while True:
        bound = _bound_places(program, eligible)
        useless = {p for p in eligible if not bound[p]}
        if not useless:
            break
        eligible -= useless
    late = {q for p in eligible for q in _readers(program, p) if dependence[q] is Dependence.STATIC}
    demand = {p: len(program.predicates) + i for i, p in enumerate(sorted(eligible))}
    predicates = list(program.predicates)
    for p, index in demand.items():
        arity = len(bound[p])
        predicates.append(Predicate(index, f"demand;{p}", (LEAF,) * arity, arity))

    def ask(atom: FlatAtom) -> FlatAtom:
        return FlatAtom(demand[atom.predicate], tuple(atom.args[i] for i in bound[atom.predicate]))

    facts = dict(program.facts)
    clauses: dict[FlatClause, None] = {}
    for clause in program.clauses:
        for atom, known, literals in _questions(clause, bound):
            head = ask(atom)
            given = literals
            if clause.head.predicate in demand:
                given = [ask(clause.head), *literals]
            if not given:
                facts.setdefault(head.predicate, set()).add(head.args)
                continue
            if head in given:
                continue
            asking = replace(
                clause,
                head=head,
                positives=tuple(dict.fromkeys(given)),
                negatives=tuple(
                    n
                    for n in clause.negatives
                    if dependence[n.predicate] is Dependence.STATIC and known.issuperset(_variables(n))
                ),
                distincts=tuple(
                    d for d in clause.distincts if all(a >= 0 or a in known for a in (*d[0], *d[1]))
                ),
                builds=(),
            )
            clauses[asking] = None
        if clause.head.predicate in demand:
            clause = replace(clause, positives=(ask(clause.head), *clause.positives))
        clauses[clause] = None
    return Restriction(Program(predicates, facts, list(clauses), program.table), demand, frozenset(late))


def _readers(program: Program, predicate: int) -> set[int]:
    """The predicates that depend on one, itself among them."""
    found = {predicate}
    while True:
        more = {
            c.head.predicate
            for c in program.clauses
            if any(a.predicate in found for a in (*c.positives, *c.negatives))
        }
        if more <= found:
            return found
        found |= more


def _eligible(program: Program, dependence: Sequence[Dependence], predicate: int) -> set[int]:
    """A predicate and those of its readers that can be solved on demand; none if it cannot.

    Static predicates must not be read under a negation, not even through others: that asks
    for their complement before reachability is done.
    """
    readers = _readers(program, predicate)
    names = {program.predicates[p].name for p in readers}
    if names & {ROLE, INIT} or program.predicates[predicate].name in WHOLE:
        return set()
    static = {p for p in readers if dependence[p] is Dependence.STATIC}
    if any(n.predicate in static for c in program.clauses for n in c.negatives):
        return set()
    return {p for p in readers if program.predicates[p].name not in WHOLE}


Question = tuple[FlatAtom, set[int], list[FlatAtom]]
"""An atom that is asked for, the variables known by then, and the literals that give them."""


def _questions(clause: FlatClause, bound: dict[int, tuple[int, ...]]) -> Iterator[Question]:
    """The places of a clause that ask for restricted predicates."""
    head = clause.head
    known: set[int] = set()
    if head.predicate in bound:
        known = {head.args[i] for i in bound[head.predicate] if head.args[i] < 0}
    anything = head.predicate not in bound
    literals: list[FlatAtom] = []
    waiting = list(clause.positives)
    while True:
        # First whatever hangs together with what is known and need not be asked for.
        progress = True
        while progress:
            progress = False
            for atom in list(waiting):
                variables = _variables(atom)
                if atom.predicate not in bound and (anything or not variables or known & variables):
                    waiting.remove(atom)
                    literals.append(atom)
                    known |= variables
                    progress = True
        asked = next((a for a in waiting if a.predicate in bound), None)
        if asked is None:
            break
        yield asked, set(known), list(literals)
        waiting.remove(asked)
        literals.append(asked)
        known |= _variables(asked)
    literals += waiting
    for atom in waiting:
        known |= _variables(atom)
    for atom in clause.negatives:
        if atom.predicate in bound:
            yield atom, set(known), list(literals)


def _bound_places(program: Program, restricted: set[int]) -> dict[int, tuple[int, ...]]:
    """Per restricted predicate the arguments that are known wherever it is asked for."""
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


def _variables(atom: FlatAtom) -> set[int]:
    return {a for a in atom.args if a < 0}

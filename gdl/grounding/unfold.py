"""Unfolding: the rows of a relation too large to be listed become conditions of the rules that read it.

``exactlyOne(?z, ?a, ..., ?i)`` of a sudoku has a thousand million rows, yet a rule that reads it needs
little of ``?a`` before it goes on with ``?b``. The variables of such a rule are bound one after the other,
and what is then open of the conditions is the *residual*. Bindings with the same residual go on alike, so
they share an auxiliary atom. That is a decision diagram made from the top (R. E. Bryant, 1986), with the
literals of the state at its edges.

Only static relations without recursion are unfolded, whose rules have no variables but those of their heads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.compile.program import FlatAtom, FlatClause, Program, variables_of
from gdl.compile.stratify import Dependence, components
from gdl.grounding.limits import Budget
from gdl.grounding.relation import Relation
from gdl.terms import DOES, GOAL, INIT, LEGAL, NEXT, ROLE, SEES, TERMINAL, TRUE

OUTPUTS = (ROLE, INIT, TRUE, NEXT, LEGAL, DOES, GOAL, TERMINAL, SEES)
"""Relations that are always needed as a whole."""

_MOST_ALTERNATIVES = 10_000
"""The most conjunctions that one condition may have."""

_DIFFER = -1
"""In place of a predicate: the first half of the arguments differs from the second."""

Literal = tuple[bool, int, tuple[int, ...]]
"""Whether it must hold, its predicate, and its arguments (coded as in FlatAtom)."""

_Condition = frozenset[frozenset[Literal]]
"""A disjunction of conjunctions."""

Residual = frozenset[int]
"""The numbers of the conditions that are still open, all of which must hold."""

_FALSE, _TRUE = 0, 1


def readers(program: Program, predicate: int) -> set[int]:
    """Return the predicates that depend on one, including itself."""
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


def unfoldable(program: Program, dependence: Sequence[Dependence], predicate: int) -> frozenset[int]:
    """Return a static predicate and the static ones that depend on it; none if one of them cannot be
    unfolded."""
    everyone = readers(program, predicate)
    names = {program.predicates[p].name for p in everyone}
    found = frozenset(p for p in everyone if dependence[p] is Dependence.STATIC)
    if names & {ROLE, INIT} or any(program.predicates[p].name in OUTPUTS for p in found):
        return frozenset()
    own = [c for c in program.clauses if c.head.predicate in found]
    others = [c for c in program.clauses if c.head.predicate in everyone - found]
    reads = [[a.predicate for c in own if c.head.predicate == p for a in c.positives] for p in found]
    order = {p: place for place, p in enumerate(found)}
    inner = [[order[q] for q in row if q in order] for row in reads]
    possible = (
        predicate in found
        and all(len(component) == 1 for component in components(inner))
        and not any(place in row for place, row in enumerate(inner))
        and not any(a.predicate in found for c in program.clauses for a in c.negatives)
        and all(_closed(clause) for clause in own)
        and all(_bound(c, found) for c in others if any(a.predicate in found for a in c.positives))
    )
    return found if possible else frozenset()


def _closed(clause: FlatClause) -> bool:
    """Whether a clause has no variables but those of its head, and builds nothing."""
    literals = (*clause.positives, *clause.negatives)
    body = variables_of(*[a.args for a in literals], *[row for pair in clause.distincts for row in pair])
    return not clause.builds and body <= variables_of(clause.head.args)


def _bound(clause: FlatClause, unfolded: Iterable[int]) -> bool:
    """Whether a clause builds nothing, and its other literals bind all of its variables."""
    others = variables_of(*[a.args for a in clause.positives if a.predicate not in unfolded])
    conditions = [a.args for a in clause.positives if a.predicate in unfolded]
    return not clause.builds and variables_of(clause.head.args, *conditions) <= others


def with_conditions(program: Program, unfolded: frozenset[int]) -> Program:
    """Return the program whose other clauses have their literals of unfolded predicates as conditions."""
    clauses = []
    for clause in program.clauses:
        if clause.head.predicate not in unfolded:
            conditions = tuple(a for a in clause.positives if a.predicate in unfolded)
            positives = tuple(a for a in clause.positives if a.predicate not in unfolded)
            clause = replace(clause, positives=positives, conditions=conditions)
        clauses.append(clause)
    return Program(program.predicates, program.facts, clauses, program.table)


@dataclass(frozen=True)
class Diagram:
    """The ways to bind variables so that all conditions hold.

    Attributes:
        nodes: their number; node 0 is the beginning.
        edges: for each variable int32, shape (edges, 3): a node, a value of the variable, and the node after
            it; -1 after the last variable.
    """

    nodes: int
    edges: list[NDArray[np.int32]]


class Unfolding:
    """Conditions over the relations of a program, and their residuals.

    Args:
        program: the rules, those of the unfolded predicates included.
        unfolded: the predicates that are not listed.
        relations: the rows of all other static predicates.
        budget: raises TooLargeError past its limits.
    """

    def __init__(
        self, program: Program, unfolded: frozenset[int], relations: Sequence[Relation], budget: Budget
    ) -> None:
        self._facts = program.facts
        self._unfolded = unfolded
        self._relations = relations
        self._budget = budget
        self._clauses: dict[int, list[FlatClause]] = {p: [] for p in unfolded}
        for clause in program.clauses:
            if clause.head.predicate in unfolded:
                self._clauses[clause.head.predicate].append(clause)
        self._conditions: list[_Condition] = [frozenset(), frozenset([frozenset()])]
        self._numbers = {condition: number for number, condition in enumerate(self._conditions)}
        self._rests: dict[tuple[int, int, int], int] = {}
        self._known: dict[Literal, bool] = {}
        self._alternatives: dict[FlatAtom, set[frozenset[Literal]]] = {}

    def inner(self, clause: FlatClause, literals: Iterable[FlatAtom]) -> list[int]:
        """Return the variables of a clause that a diagram can bind: those of its conditions, if its head and
        its literals of the state have no two of them together."""
        variables = dict.fromkeys(a for atom in clause.conditions for a in atom.args if a < 0)
        inner = variables.keys() - clause.head.args
        for atom in literals:
            own = inner.intersection(atom.args)
            if len(own) > 1:
                inner -= own
        return [v for v in variables if v in inner]

    def joint(self, clause: FlatClause, inner: Sequence[int]) -> list[Literal]:
        """Return the literals and distincts of a clause that connect several inner variables. They are
        static, and all their variables are to be bound."""
        found: list[Literal] = [(True, _DIFFER, (*left, *right)) for left, right in clause.distincts]
        found += [(True, atom.predicate, atom.args) for atom in clause.positives]
        found += [(False, atom.predicate, atom.args) for atom in clause.negatives]
        return [literal for literal in found if len(set(inner).intersection(literal[2])) > 1]

    def residual(self, conditions: Iterable[FlatAtom], literals: Iterable[Literal]) -> Residual | None:
        """Return what conditions and other literals require; None if they cannot hold."""
        found = [self._unfold(atom) for atom in conditions]
        found += [{frozenset([literal])} for literal in literals]
        return _residual(self._number(condition) for condition in found)

    def bind(self, residual: Residual, variable: int, value: int) -> Residual | None:
        """Return the residual after a variable is bound; None if its conditions cannot hold any more."""
        return _residual(self._rest(number, variable, value) for number in residual)

    def diagram(self, residual: Residual, domains: Sequence[tuple[int, tuple[int, ...]]]) -> Diagram:
        """Return the diagram of a residual, for variables with the values that they may have."""
        level: dict[Residual, int] = {residual: 0}
        nodes = 1
        edges = []
        for variable, values in domains:
            following: dict[Residual, int] = {}
            found = []
            for before, node in level.items():
                self._budget.tick()
                for value in values:
                    after = self.bind(before, variable, value)
                    if after is not None:
                        child = following.setdefault(after, nodes + len(following))
                        found.append((node, value, child))
            self._budget.add_atoms(len(following))
            nodes += len(following)
            level = following
            edges.append(np.array(found, np.int32).reshape(-1, 3))
        return _pruned(nodes, edges)

    def _rest(self, number: int, variable: int, value: int) -> int:
        """The number of a condition after a variable is bound."""
        key = number, variable, value
        rest = self._rests.get(key)
        if rest is None:
            env = {variable: value}
            bound = {
                frozenset((holds, p, _substituted(args, env)) for holds, p, args in conjunction)
                for conjunction in self._conditions[number]
            }
            rest = self._rests[key] = self._number(bound)
        return rest

    def _number(self, condition: Iterable[frozenset[Literal]]) -> int:
        """The number of a condition without the literals that are decided."""
        alternatives = set()
        for conjunction in condition:
            constant = [x for x in conjunction if not variables_of(x[2])]
            if all(self._holds(x) for x in constant):
                alternatives.add(conjunction.difference(constant))
        open_ = frozenset(alternatives)
        if frozenset() in open_:
            return _TRUE
        number = self._numbers.setdefault(open_, len(self._conditions))
        if number == len(self._conditions):
            self._conditions.append(open_)
        return number

    def _holds(self, literal: Literal) -> bool:
        """Whether a literal of constants holds."""
        known = self._known.get(literal)
        if known is None:
            holds, p, args = literal
            half = len(args) // 2
            found = args[:half] != args[half:] if p == _DIFFER else self._relations[p].find(args, 1)[0] >= 0
            known = self._known[literal] = bool(found) is holds
        return known

    def _unfold(self, atom: FlatAtom) -> set[frozenset[Literal]]:
        """The alternatives of an atom: over the relations that are listed."""
        if atom.predicate not in self._unfolded:
            return {frozenset([(True, atom.predicate, atom.args)])}
        if atom in self._alternatives:
            return self._alternatives[atom]
        self._budget.tick()
        found: set[frozenset[Literal]] = set()
        for row in self._facts.get(atom.predicate, ()):
            found.add(frozenset((False, _DIFFER, pair) for pair in zip(atom.args, row, strict=True)))
        for clause in self._clauses[atom.predicate]:
            env: dict[int, int] = {}
            own: set[Literal] = set()
            for parameter, argument in zip(clause.head.args, atom.args, strict=True):
                if parameter >= 0 or parameter in env:
                    own.add((False, _DIFFER, (env.get(parameter, parameter), argument)))
                else:
                    env[parameter] = argument
            for pair in clause.distincts:
                own.add((True, _DIFFER, _substituted([a for row in pair for a in row], env)))
            for n in clause.negatives:
                own.add((False, n.predicate, _substituted(n.args, env)))
            alternatives = {frozenset(own)}
            for inner in clause.positives:
                more = self._unfold(FlatAtom(inner.predicate, _substituted(inner.args, env)))
                alternatives = {a | b for a in alternatives for b in more}
                self._check(len(alternatives))
            found |= alternatives
            self._check(len(found))
        self._alternatives[atom] = found
        return found

    def _check(self, alternatives: int) -> None:
        if alternatives > _MOST_ALTERNATIVES:
            raise self._budget.fail(f"more than {_MOST_ALTERNATIVES:,} alternatives of a condition")


def _residual(numbers: Iterable[int]) -> Residual | None:
    """The residual of conditions; None if one of them is false."""
    found = set()
    for number in numbers:
        if number == _FALSE:
            return None
        found.add(number)
    found.discard(_TRUE)
    return frozenset(found)


def _substituted(args: Iterable[int], env: dict[int, int]) -> tuple[int, ...]:
    return tuple([env.get(a, a) for a in args])


def _pruned(nodes: int, edges: list[NDArray[np.int32]]) -> Diagram:
    """The diagram without the edges from which no way leads to the end. Children at the end become -1."""
    alive = np.zeros(nodes, np.bool_)
    for place in reversed(range(len(edges))):
        own = edges[place]
        if place == len(edges) - 1:
            own[:, 2] = -1
        else:
            own = edges[place] = own[alive[own[:, 2]]]
        alive[own[:, 0]] = True
    return Diagram(nodes, edges)

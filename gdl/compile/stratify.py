"""Stratification: the order in which predicates are evaluated, and the dependence of each on state and moves.

Strongly connected components by Tarjan's algorithm (1972), iterative. A component that depends
negatively on itself has no meaning in GDL and is refused.

The module also finds the terms that can reach an argument, by an abstract flow of values between positions. A
position is an argument of a relation or a function, ``("cell", 3, 0)``. All uses of one functor share its
positions, so the flow never misses a possible value, but may have impossible ones. ``init``, ``next`` and
``base`` count as ``true``; ``legal`` and ``input`` count as ``does``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from gdl.compile.program import FlatClause, Program
from gdl.errors import RulesError
from gdl.rules import Rule, literals
from gdl.terms import BASE, DISTINCT, DOES, INIT, INPUT, LEGAL, NEXT, TRUE, Term


class Dependence(IntEnum):
    """The dependence of a predicate's rows on the state and the moves."""

    STATIC = 0  # on nothing: the rows are the same in all states
    STATE = 1  # on ``true``
    MOVE = 2  # on ``does``, and maybe on the state


@dataclass(frozen=True, slots=True)
class Stratum:
    """Predicates that are evaluated together.

    Attributes:
        predicates: indexes; more than one only if they recurse through each other.
        clauses: all clauses whose heads have these predicates.
        recursive: whether some clause reads a predicate of this stratum.
        dependence: the dependence of the predicates.
    """

    predicates: tuple[int, ...]
    clauses: tuple[FlatClause, ...]
    recursive: bool
    dependence: Dependence


def stratify(program: Program) -> list[Stratum]:
    """The strata of a program in evaluation order.

    A stratum reads only earlier strata, and itself positively. ``true`` and ``does`` are strata without
    clauses. Raises RulesError, which names a clause, if a predicate depends on its own negation.
    """
    count = len(program.predicates)
    clauses: list[list[FlatClause]] = [[] for _ in range(count)]
    for clause in program.clauses:
        clauses[clause.head.predicate].append(clause)
    reads = [sorted({a.predicate for c in own for a in (*c.positives, *c.negatives)}) for own in clauses]
    dependence = [
        {TRUE: Dependence.STATE, DOES: Dependence.MOVE}.get(p.name, Dependence.STATIC)
        for p in program.predicates
    ]
    strata: list[Stratum] = []
    for component in components(reads):
        members = set(component)
        own = tuple(c for p in component for c in clauses[p])
        for clause in own:
            for atom in clause.negatives:
                if atom.predicate in members:
                    name = program.predicates[atom.predicate].name
                    raise RulesError(
                        f"the relation {name!r} depends on its own negation",
                        clause.place,
                        "break the cycle: rules must be stratified",
                    )
        level = max(dependence[q] for p in component for q in (p, *reads[p]))
        for p in component:
            dependence[p] = level
        recursive = any(a.predicate in members for c in own for a in c.positives)
        strata.append(Stratum(tuple(component), own, recursive, level))
    return strata


def components(reads: list[list[int]]) -> Iterable[list[int]]:
    """The strongly connected components of a graph (node -> nodes that it reads). Each component comes after
    those that it reads; its members ascend."""
    order = [-1] * len(reads)
    low = [0] * len(reads)
    on_stack = [False] * len(reads)
    stack: list[int] = []
    counter = 0
    for root in range(len(reads)):
        if order[root] >= 0:
            continue
        todo = [(root, 0)]
        while todo:
            node, position = todo.pop()
            if position == 0:
                order[node] = low[node] = counter
                counter += 1
                stack.append(node)
                on_stack[node] = True
            elif on_stack[child := reads[node][position - 1]]:
                low[node] = min(low[node], low[child])
            for following in range(position, len(reads[node])):
                child = reads[node][following]
                if order[child] < 0:
                    todo += [(node, following + 1), (child, 0)]
                    break
                if on_stack[child]:
                    low[node] = min(low[node], order[child])
            else:
                if low[node] == order[node]:
                    start = len(stack) - 1
                    while stack[start] != node:
                        start -= 1
                    component = stack[start:]
                    del stack[start:]
                    for member in component:
                        on_stack[member] = False
                    yield sorted(component)


Position = tuple[str, int, int]
"""Functor (lower case), its arity, and the number of the argument from 0."""

_TWINS = {(NEXT, 1): TRUE, (INIT, 1): TRUE, (BASE, 1): TRUE, (LEGAL, 2): DOES, (INPUT, 2): DOES}


@dataclass
class _Flow:
    """The paths of values between positions.

    Attributes:
        constants: symbols that the rules write at each position.
        copies: one (source positions, target position) per rule and variable: the value at the
            target stands at all of the sources at once (no sources: nothing binds it).
        nests: (inner, outer): a function term with ``inner`` as argument stands at ``outer``.
    """

    constants: dict[Position, set[Term]] = field(default_factory=lambda: defaultdict(set))
    copies: list[tuple[frozenset[Position], Position]] = field(default_factory=list)
    nests: set[tuple[Position, Position]] = field(default_factory=set)

    def reaching(self, target: Position) -> tuple[set[Position], bool]:
        """The positions whose values can come to the target. Also whether every value can, because some rule
        leaves the variable at the target unbound."""
        into: dict[Position, list[frozenset[Position]]] = defaultdict(list)
        for sources, to in self.copies:
            into[to].append(sources)
        reached = {target}
        todo = [target]
        anything = False
        while todo:
            for sources in into[todo.pop()]:
                anything = anything or not sources
                todo.extend(sources - reached)
                reached |= sources
        return reached, anything

    def growing(self) -> set[Position]:
        """Positions whose terms can nest deeper from turn to turn or round to round."""
        positions = {p for sources, to in self.copies for p in (*sources, to)}
        positions.update(p for pair in self.nests for p in pair)
        ordered = sorted(positions)
        index = {p: i for i, p in enumerate(ordered)}
        unbounded = positions
        while True:
            reads: dict[Position, set[Position]] = defaultdict(set)
            for sources, to in self.copies:
                if sources <= unbounded:  # a value that also stands at a bounded position is bounded
                    reads[to] |= sources
            nests = [(inner, outer) for inner, outer in self.nests if inner in unbounded]
            for inner, outer in nests:
                reads[outer].add(inner)
            graph = [sorted(index[s] for s in reads[p]) for p in ordered]
            component = {m: number for number, members in enumerate(components(graph)) for m in members}
            grown = {outer for inner, outer in nests if component[index[inner]] == component[index[outer]]}
            readers: dict[Position, list[Position]] = defaultdict(list)
            for reader, sources_of in reads.items():
                for source in sources_of:
                    readers[source].append(reader)
            todo = list(grown)
            while todo:
                new = [reader for reader in readers[todo.pop()] if reader not in grown]
                grown.update(new)
                todo += new
            if grown == unbounded:
                return grown
            unbounded = grown


def flow_of(rules: Iterable[Rule]) -> _Flow:
    """The flow of values in all rules of a game."""
    flow = _Flow()
    for rule in rules:
        sources: dict[Term, set[Position]] = defaultdict(set)
        for part in rule.body:
            for literal, positive in literals(part):
                if literal.atom.name == DISTINCT:
                    continue
                for position, term in arguments(literal.atom):
                    if not term.is_variable and not term.args:
                        flow.constants[position].add(term)
                    elif term.is_variable and positive:
                        sources[term].add(position)
        for position, term in arguments(rule.head):
            if term.is_variable:
                flow.copies.append((frozenset(sources[term]), position))
            elif not term.args:
                flow.constants[position].add(term)
            for number in range(len(term.args)):
                flow.nests.add(((*term.signature, number), position))
    return flow


def arguments(atom: Term) -> Iterator[tuple[Position, Term]]:
    """Every argument in an atom, at any depth, with its position."""
    todo = [atom]
    while todo:
        term = todo.pop()
        name = _TWINS.get(term.signature, term.name)
        for number, argument in enumerate(term.args):
            yield (name, len(term.args), number), argument
            if argument.args:
                todo.append(argument)

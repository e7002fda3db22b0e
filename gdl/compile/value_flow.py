"""Which terms can reach which argument: an abstract flow of values between positions.

A position is an argument of a relation or a function, ``("cell", 3, 0)``. All uses of one functor share
its positions, so that the flow says more than can happen, never less. ``init``, ``next`` and ``base``
count as ``true``; ``legal`` and ``input`` count as ``does``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gdl.compile.stratify import components
from gdl.rules import Rule, literals
from gdl.terms import BASE, DISTINCT, DOES, INIT, INPUT, LEGAL, NEXT, TRUE, Term

Position = tuple[str, int, int]
"""Functor (lower case), its arity, and the number of the argument from 0."""

_TWINS = {(NEXT, 1): TRUE, (INIT, 1): TRUE, (BASE, 1): TRUE, (LEGAL, 2): DOES, (INPUT, 2): DOES}


@dataclass
class Flow:
    """How values move between positions.

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
        """The positions whose values can come to the target, and whether every value can, because
        no literal of some rule binds it."""
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


def flow_of(rules: Iterable[Rule]) -> Flow:
    """The flow of values in all rules of a game."""
    flow = Flow()
    for rule in rules:
        sources: dict[Term, set[Position]] = defaultdict(set)
        for part in rule.body:
            for literal, positive in literals(part):
                if literal.atom.name == DISTINCT:
                    continue
                for position, term in _arguments(literal.atom):
                    if not term.is_variable and not term.args:
                        flow.constants[position].add(term)
                    elif term.is_variable and positive:
                        sources[term].add(position)
        for position, term in _arguments(rule.head):
            if term.is_variable:
                flow.copies.append((frozenset(sources[term]), position))
            elif not term.args:
                flow.constants[position].add(term)
            for number in range(len(term.args)):
                flow.nests.add(((*term.signature, number), position))
    return flow


def _arguments(atom: Term) -> Iterator[tuple[Position, Term]]:
    """Every argument in an atom, at any depth, with its position."""
    todo = [atom]
    while todo:
        term = todo.pop()
        name = _TWINS.get(term.signature, term.name)
        for number, argument in enumerate(term.args):
            yield (name, len(term.args), number), argument
            if argument.args:
                todo.append(argument)

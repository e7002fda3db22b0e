"""Which terms can reach which argument: an abstract flow of values between positions.

A position is an argument of a relation or a function, ``("cell", 3, 0)``. All uses of one
functor share its positions, so the flow says more than can happen, never less. ``init``,
``next`` and ``base`` count as ``true``; ``legal`` and ``input`` count as ``does``.
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
        copies: one (source positions, target position) per rule and variable: the value at
            the target was found at all of the sources at once (none: nothing binds it).
        nests: (inner, outer): a function term with ``inner`` as argument stands at ``outer``.
    """

    constants: dict[Position, set[Term]] = field(default_factory=lambda: defaultdict(set))
    copies: list[tuple[frozenset[Position], Position]] = field(default_factory=list)
    nests: set[tuple[Position, Position]] = field(default_factory=set)

    def reaching(self, target: Position) -> tuple[set[Position], bool]:
        """The positions whose values can come to the target, and whether every value can
        (because an unsafe rule binds it with nothing)."""
        into: dict[Position, list[frozenset[Position]]] = defaultdict(list)
        for sources, to in self.copies:
            into[to].append(sources)
        found = {target}
        todo = [target]
        anything = False
        while todo:
            for sources in into[todo.pop()]:
                anything = anything or not sources
                todo.extend(sources - found)
                found |= sources
        return found, anything

    def growing(self) -> set[Position]:
        """Positions whose terms can nest deeper from turn to turn or round to round."""
        nodes = {p for sources, to in self.copies for p in (*sources, to)}
        nodes.update(p for pair in self.nests for p in pair)
        index = {p: i for i, p in enumerate(sorted(nodes))}
        positions = list(index)
        unbounded = set(nodes)
        while True:
            reads: list[set[int]] = [set() for _ in index]
            for sources, to in self.copies:
                if sources <= unbounded:  # a value found at a bounded position is bounded
                    reads[index[to]].update(index[s] for s in sources)
            for inner, outer in self.nests:
                if inner in unbounded:
                    reads[index[outer]].add(index[inner])
            component = [0] * len(index)
            for number, members in enumerate(components([sorted(r) for r in reads])):
                for member in members:
                    component[member] = number
            grown = {
                index[outer]
                for inner, outer in self.nests
                if inner in unbounded and component[index[inner]] == component[index[outer]]
            }
            todo = list(grown)
            readers: list[list[int]] = [[] for _ in index]
            for node, sources_of in enumerate(reads):
                for source in sources_of:
                    readers[source].append(node)
            while todo:
                for reader in readers[todo.pop()]:
                    if reader not in grown:
                        grown.add(reader)
                        todo.append(reader)
            after = {positions[i] for i in grown}
            if after == unbounded:
                return {positions[i] for i in grown}
            unbounded = after


def flow_of(rules: Iterable[Rule]) -> Flow:
    """The flow of values in all rules of a game."""
    flow = Flow()
    for rule in rules:
        found: dict[Term, set[Position]] = defaultdict(set)
        for part in rule.body:
            for literal, positive in literals(part):
                if literal.atom.name == DISTINCT:
                    continue
                for position, term in _arguments(literal.atom):
                    if term.is_variable:
                        if positive:
                            found[term].add(position)
                    elif not term.args:
                        flow.constants[position].add(term)
        for position, term in _arguments(rule.head):
            if term.is_variable:
                flow.copies.append((frozenset(found[term]), position))
            elif not term.args:
                flow.constants[position].add(term)
            else:
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

"""Findings about dependencies: on state and moves, through negation and recursion, and growing terms.

The recursion restriction is Definition 15 of Love, Hinrichs, Haley, Schkufza, Genesereth:
"General Game Playing: Game Description Language Specification" (Stanford LG-2006-01, 2008).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from gdl.checks.diagnostic import Diagnostic, Kind, warning
from gdl.compile.stratify import components, flow_of
from gdl.errors import Place
from gdl.rules import Literal, Rule, Rules, Signature, body_literals, subterms
from gdl.syntax.writer import OwnNotation
from gdl.terms import BASE, DISTINCT, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, ROLE, SEES, TERMINAL, TRUE

_DOES_IN_LEGAL = warning("does-in-legal", "note the move in the state by a next rule, and ask for that")
_DOES_IN_GOAL = warning("does-in-goal", "note the move in the state by a next rule, and ask for that")
_DOES_IN_TERMINAL = warning("does-in-terminal", "note the move in the state by a next rule, and ask for that")
_TRUE_IN_INIT = warning("true-in-init", "there is no state before the first one: use facts")
_DOES_IN_INIT = warning("does-in-init", "there is no move before the first state: use facts")
_STATE_IN_BASE = warning("state-in-base", "say what can ever be true, not what is true now")
_STATE_IN_INPUT = warning("state-in-input", "say what can ever be legal, not what is legal now")
_ROLE_NOT_GROUND_FACT = warning("role-not-ground-fact", "write one (role name) for each role")
_ROLE_DEPENDS_ON_STATE = warning("role-depends-on-state", "write one (role name) for each role")
_SEES_IN_RULES = warning("sees-in-rules", "ask for the facts that the percept depends on")
_NEGATIVE_CYCLE = warning(
    "negative-cycle", "split the relation in two, so that one can be known before the other"
)
_RECURSION_RESTRICTION = warning(
    "recursion-restriction", "bind the argument by the head or by a literal outside the recursion"
)
_FUNCTION_NESTING_GROWS = warning("function-nesting-grows", "bound the depth, by a counter for instance")

_FORBIDDEN = (
    ((LEGAL, 2), (DOES, 2), _DOES_IN_LEGAL),
    ((GOAL, 2), (DOES, 2), _DOES_IN_GOAL),
    ((TERMINAL, 0), (DOES, 2), _DOES_IN_TERMINAL),
    ((INIT, 1), (TRUE, 1), _TRUE_IN_INIT),
    ((INIT, 1), (DOES, 2), _DOES_IN_INIT),
    ((BASE, 1), (TRUE, 1), _STATE_IN_BASE),
    ((BASE, 1), (DOES, 2), _STATE_IN_BASE),
    ((INPUT, 2), (TRUE, 1), _STATE_IN_INPUT),
    ((INPUT, 2), (DOES, 2), _STATE_IN_INPUT),
    ((ROLE, 1), (TRUE, 1), _ROLE_DEPENDS_ON_STATE),
    ((ROLE, 1), (DOES, 2), _ROLE_DEPENDS_ON_STATE),
)
_HIDING = (
    ((LEGAL, 2), _SEES_IN_RULES),
    ((GOAL, 2), _SEES_IN_RULES),
    ((TERMINAL, 0), _SEES_IN_RULES),
    ((INIT, 1), _SEES_IN_RULES),
    ((NEXT, 1), _SEES_IN_RULES),
)
"""Relations that must not ask for ``sees``: percepts go to the players, the game itself knows everything."""


@dataclass(frozen=True, slots=True)
class _Edge:
    target: Signature
    positive: bool
    place: Place


def check_dependence(rules: Rules) -> Iterator[Diagnostic]:
    """Findings about dependencies between the relations of a game."""
    own = OwnNotation(rules)
    graph: dict[Signature, list[_Edge]] = {}
    for rule in rules:
        edges = graph.setdefault(rule.head.signature, [])
        for literal, positive in _relational(rule):
            edges.append(_Edge(literal.atom.signature, positive, literal.place))
            graph.setdefault(literal.atom.signature, [])
    for root, target, kind in _FORBIDDEN:
        if root in graph and target in graph:
            yield from _forbidden(graph, root, target, kind, own)
    for root, kind in _HIDING:
        if root in graph and (SEES, 2) in graph:
            yield from _forbidden(graph, root, (SEES, 2), kind, own)
    for rule in rules:
        if rule.head.signature == (ROLE, 1) and (rule.body or not rule.head.ground):
            yield _ROLE_NOT_GROUND_FACT.at(rule.place, "a role is defined by a rule, not by a ground fact")
    component = _component_of(graph)
    for head, edges in graph.items():
        for edge in edges:
            if not edge.positive and component[head] == component[edge.target]:
                yield _NEGATIVE_CYCLE.at(
                    edge.place,
                    f"{own.name(head[0])!r} depends on its own negation, if its arguments are not looked at",
                )
    for rule in rules:
        yield from _restriction(rule, component, own)
    yield from _growth(rules, own)


def _relational(rule: Rule) -> list[tuple[Literal, bool]]:
    """The literals of a rule's body that read a relation."""
    return [pair for pair in body_literals(rule) if pair[0].atom.name != DISTINCT]


def _forbidden(
    graph: dict[Signature, list[_Edge]], root: Signature, target: Signature, kind: Kind, own: OwnNotation
) -> Iterator[Diagnostic]:
    """A finding for each rule that reads what its head must not, or else one for the shortest way to it."""
    direct = [edge for edge in graph[root] if edge.target == target]
    for edge in direct:
        yield kind.at(edge.place, f"{root[0]!r} depends on {target[0]!r}")
    paths: dict[Signature, tuple[Signature, ...]] = {root: ()}
    queue = deque([] if direct else [root])
    while queue:
        node = queue.popleft()
        for edge in graph[node]:
            if edge.target == target:
                way = ", ".join(repr(own.name(name)) for name, _ in paths[node])
                yield kind.at(edge.place, f"{root[0]!r} depends on {target[0]!r} through {way}")
                return
            if edge.target not in paths:
                paths[edge.target] = (*paths[node], edge.target)
                queue.append(edge.target)


def _component_of(graph: dict[Signature, list[_Edge]]) -> dict[Signature, int]:
    """The number of the strongly connected component of each relation."""
    index = {signature: i for i, signature in enumerate(graph)}
    names = list(index)
    reads = [sorted({index[e.target] for e in edges}) for edges in graph.values()]
    return {names[member]: number for number, members in enumerate(components(reads)) for member in members}


def _restriction(rule: Rule, component: dict[Signature, int], own: OwnNotation) -> Iterator[Diagnostic]:
    """The recursion restriction on every literal that recurses to the head."""
    recursion = component[rule.head.signature]
    recursive = []
    bound = set(subterms(rule.head))
    for literal, positive in _relational(rule):
        if component[literal.atom.signature] == recursion:
            recursive.append(literal)
        elif positive:
            bound.update(subterms(literal.atom))
    for literal in recursive:
        for argument in literal.atom.args:
            if not argument.ground and argument not in bound:
                yield _RECURSION_RESTRICTION.at(
                    literal.place, f"the argument {own.term(argument)} of a recursive literal is not bounded"
                )


def _growth(rules: Rules, own: OwnNotation) -> Iterator[Diagnostic]:
    """Rules that put an ever deeper term around a value of their own making."""
    growing = flow_of(rules).growing()
    for rule in rules if growing else ():
        alone = flow_of([rule])
        wraps = any(inner in growing and outer in growing for inner, outer in alone.nests)
        if wraps and any(sources and sources <= growing and to in growing for sources, to in alone.copies):
            yield _FUNCTION_NESTING_GROWS.at(
                rule.place, f"each use of this rule can nest the terms in {own.name(rule.head.name)!r} deeper"
            )

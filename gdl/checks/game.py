"""Findings about the game as a whole: what every game needs, goals, base and input, and the dependencies of
relations on state and moves, through negation and recursion, and on terms that grow.

The recursion restriction is Definition 15 of Love, Hinrichs, Haley, Schkufza, Genesereth:
"General Game Playing: Game Description Language Specification" (Stanford LG-2006-01, 2008).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from gdl.checks.diagnostic import Diagnostic, Kind, error, first_each, warning
from gdl.compile.stratify import components, flow_of
from gdl.errors import Place
from gdl.rules import Literal, Rule, Rules, Signature, body_literals, subterms
from gdl.syntax.writer import OwnNotation
from gdl.terms import (
    BASE,
    DISTINCT,
    DOES,
    GOAL,
    INIT,
    INPUT,
    LEGAL,
    NEXT,
    RANDOM,
    ROLE,
    SEES,
    TERMINAL,
    TRUE,
    Term,
)

_MISSING_ROLE = error("missing-role", "write (role name) for each player")
_MISSING_LEGAL = error("missing-legal", "write legal rules that say who may do what")
_MISSING_TERMINAL = warning("missing-terminal", "write a terminal rule that says when a match is over")
_MISSING_GOAL = warning("missing-goal", "write goal rules that say what an outcome is worth")
_MISSING_INIT = warning("missing-init", "write (init ...) for each fact of the initial state")
_MISSING_NEXT = warning("missing-next", "write next rules that say what moves change")
_NOT_KEPT = warning("state-not-kept", "write a next rule that keeps it, or use facts without init")
_GOAL_NOT_NUMBER = warning("goal-not-number", "write an integer from 0 to 100")
_GOAL_OUT_OF_RANGE = warning("goal-out-of-range", "scale the goals to 0..100")
_GOAL_MISSING_FOR_ROLE = warning("goal-missing-for-role", "write goal rules for it")
_LEGAL_MISSING_FOR_ROLE = warning(
    "legal-missing-for-role", "write legal rules for it, a noop if nothing else"
)
_BASE_INCOMPLETE = warning("base-incomplete", "write a base rule for it, or drop all base rules")
_INPUT_INCOMPLETE = warning("input-incomplete", "write an input rule for it, or drop all input rules")


def check_game(rules: Rules) -> Iterator[Diagnostic]:
    """Findings about what a game must have and about the relations GDL gives a meaning."""
    by_head: dict[Signature, list[Rule]] = defaultdict(list)
    for rule in rules:
        by_head[rule.head.signature].append(rule)
    needed = (
        ((ROLE, 1), _MISSING_ROLE, "the game has no roles"),
        ((LEGAL, 2), _MISSING_LEGAL, "the game has no legal moves"),
        ((TERMINAL, 0), _MISSING_TERMINAL, "no match of the game ever ends"),
        ((GOAL, 2), _MISSING_GOAL, "the game has no goals"),
        ((INIT, 1), _MISSING_INIT, "nothing is true at first"),
        ((NEXT, 1), _MISSING_NEXT, "nothing is true after the first move"),
    )
    for signature, kind, message in needed:
        if signature not in by_head:
            yield kind.at(Place(), message)
    own = OwnNotation(rules)
    yield from _goals(by_head[GOAL, 2], own)
    yield from _roles(by_head, own)
    yield from _not_carried_over(by_head, own)
    yield from _coverage(by_head, own)


def _goals(goals: list[Rule], own: OwnNotation) -> Iterator[Diagnostic]:
    for rule in goals:
        value = rule.head.args[1]
        digits = value.name.removeprefix("-")
        if value.is_variable:
            continue
        if value.args or not (digits.isascii() and digits.isdecimal()):
            yield _GOAL_NOT_NUMBER.at(rule.place, f"the goal value {own.term(value)} is not a number")
        elif value.name.startswith("-") or len(digits.lstrip("0")) > 3 or int(digits) > 100:
            yield _GOAL_OUT_OF_RANGE.at(rule.place, f"the goal value {own.term(value)} is not in 0..100")


def _roles(by_head: dict[Signature, list[Rule]], own: OwnNotation) -> Iterator[Diagnostic]:
    """Roles without goals or moves."""
    definitions = by_head[ROLE, 1]
    if not definitions or any(r.body or not r.head.ground for r in definitions):
        return  # not known without evaluating rules
    roles = {rule.head.args[0]: rule.place for rule in definitions}
    for relation, kind, what in (
        (GOAL, _GOAL_MISSING_FOR_ROLE, "no goal"),
        (LEGAL, _LEGAL_MISSING_FOR_ROLE, "no legal moves"),
    ):
        provided = {rule.head.args[0] for rule in by_head[relation, 2]}
        if provided and all(term.ground for term in provided):
            for role, place in roles.items():
                if role not in provided and not (role is RANDOM and relation == GOAL):
                    yield kind.at(place, f"the role {own.term(role)} has {what}")


def _not_carried_over(by_head: dict[Signature, list[Rule]], own: OwnNotation) -> Iterator[Diagnostic]:
    """Propositions that are true at first and that no next rule can make true again: a game remembers only
    the facts that its next rules give."""
    later = by_head[NEXT, 1]
    if any(rule.head.args[0].is_variable for rule in later) or not later:
        return
    carried_over = {rule.head.args[0].signature for rule in later}
    first: dict[Signature, list[Rule]] = defaultdict(list)
    for rule in by_head[INIT, 1]:
        first[rule.head.args[0].signature].append(rule)
    for subject, starts in first.items():
        if len(starts) > 1 and subject not in carried_over and not starts[0].head.args[0].is_variable:
            message = f"no next rule has {own.name(subject[0])!r}: none of it is true after the first move"
            yield _NOT_KEPT.at(starts[0].place, message)


def _coverage(by_head: dict[Signature, list[Rule]], own: OwnNotation) -> Iterator[Diagnostic]:
    """Facts that base and input rules leave out, if there are such rules."""
    for declaration, kind, relations, what in (
        ((BASE, 1), _BASE_INCOMPLETE, ((INIT, 1), (NEXT, 1)), "base"),
        ((INPUT, 2), _INPUT_INCOMPLETE, ((LEGAL, 2),), "input"),
    ):
        declared = [rule.head.args[-1] for rule in by_head[declaration]]
        if not declared or any(term.is_variable for term in declared):
            continue
        functors = {term.signature for term in declared}
        facts = set(declared) if all(not r.body for r in by_head[declaration]) else None
        heads = [rule for signature in relations for rule in by_head[signature]]
        yield from first_each(
            (missing, kind.at(rule.place, f"no {what} rule covers {own.term(rule.head.args[-1])}"))
            for rule in heads
            if (missing := _missing(rule.head.args[-1], functors, facts)) is not None
        )


def _missing(subject: Term, functors: set[Signature], facts: set[Term] | None) -> Hashable:
    """The functor, or else the fact, that declarations lack to cover a subject; None if they cover it."""
    if subject.is_variable:
        return None
    if subject.signature not in functors:
        return subject.signature
    return subject if facts is not None and subject.ground and subject not in facts else None


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
    *(
        (head, (SEES, 2), _SEES_IN_RULES)
        for head in ((LEGAL, 2), (GOAL, 2), (TERMINAL, 0), (INIT, 1), (NEXT, 1))
    ),
)
"""Relation, the relation that it must not depend on, the finding. Percepts go to the players: the game itself
knows everything."""


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

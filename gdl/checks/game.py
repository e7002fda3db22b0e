"""Findings about the game as a whole: what every game needs, goals, base and input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

from gdl.checks.diagnostic import Diagnostic, error, first_each, warning
from gdl.errors import Place
from gdl.rules import Rule, Rules, Signature
from gdl.syntax.writer import OwnNotation
from gdl.terms import BASE, GOAL, INIT, INPUT, LEGAL, NEXT, RANDOM, ROLE, TERMINAL, Term

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

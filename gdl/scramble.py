"""Scrambling: the same game under other names, as competitions send it.

Relations, functions, constants, roles and variables get made-up, pronounceable names, each
the same wherever it occurs. What GDL gives a meaning keeps its name: keywords, connectives,
and the numbers that can become goal values (found by following values through the rules).
All other numbers are names like any other and are renamed, too.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping

from gdl.compile.value_flow import flow_of
from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.terms import (
    ARITIES,
    CONNECTIVES,
    GOAL,
    Term,
)

KEYWORDS = ARITIES.keys() | CONNECTIVES
"""Names that are never renamed."""

_CONSONANTS = "bdfghjklmnprstvwz"
_VOWELS = "aeiou"


def scramble(rules: Rules, seed: int = 0) -> tuple[Rules, dict[str, str]]:
    """The same game under other names.

    Args:
        rules: any rules.
        seed: the same rules and seed give the same names.

    Returns:
        The renamed rules, in the same order, and old name -> new name, both in lower case,
        for every name that changed (variables with their ``?``). No new name is an old
        one, so the inverse of the mapping leads back (see :func:`rename`).
    """
    names = dict.fromkeys(_names(rules))
    kept = KEYWORDS | goal_values(rules)
    rng = random.Random(seed)
    taken = set(names) | KEYWORDS
    mapping: dict[str, str] = {}
    for name in names:
        if name not in kept:
            mapping[name] = _fresh(rng, "?" if name.startswith("?") else "", taken)
    return rename(rules, mapping), mapping


def rename(rules: Rules, mapping: Mapping[str, str]) -> Rules:
    """The rules with every name replaced that the mapping knows (lower case -> any case)."""
    done: dict[Term, Term] = {}

    def term(old: Term) -> Term:
        new = done.get(old)
        if new is None:
            new = done[old] = Term(mapping.get(old.name, old.name), *map(term, old.args))
        return new

    def formula(old: Formula) -> Formula:
        match old:
            case Literal(atom, place):
                return Literal(term(atom), place)
            case Not(inner, place):
                return Not(formula(inner), place)
            case And(parts, place):
                return And(tuple(map(formula, parts)), place)
            case Or(parts, place):
                return Or(tuple(map(formula, parts)), place)

    renamed = tuple([Rule(term(r.head), tuple(map(formula, r.body)), r.place) for r in rules])
    spelling: dict[str, str] = {}
    for name, spelled in rules.spelling.items():
        new = mapping.get(name, spelled)
        spelling[new.lower()] = new
    return Rules(renamed, spelling, rules.name)


def goal_values(rules: Rules) -> frozenset[str]:
    """The numbers that the second argument of ``goal`` may come to be, as names.

    An unsafe rule can give a goal any value: then all of 0 to 100 that the rules mention.
    """
    flow = flow_of(rules)
    positions, anything = flow.reaching((GOAL, 2, 1))
    found: Iterable[str] = (c.name for p in positions for c in flow.constants.get(p, ()))
    if anything:
        found = _names(rules)
    return frozenset(name for name in found if name.isascii() and name.isdecimal())


def _names(rules: Iterable[Rule]) -> Iterator[str]:
    """Every name in the rules, variables included, in the order of the text."""
    for rule in rules:
        yield from _names_in(rule.head)
        for part in rule.body:
            for literal, _ in literals(part):
                yield from _names_in(literal.atom)


def _names_in(term: Term) -> Iterator[str]:
    todo = [term]
    while todo:
        part = todo.pop()
        yield part.name
        todo.extend(reversed(part.args))


def _fresh(rng: random.Random, prefix: str, taken: set[str]) -> str:
    """A pronounceable name that is not taken; longer ones where the short ones run out."""
    syllables = 2
    while True:
        for _ in range(20):
            name = prefix + "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))
            if name not in taken:
                taken.add(name)
                return name
        syllables += 1

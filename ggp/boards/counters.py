"""Counters that rules keep digit by digit, ``(tens 1)`` and ``(units 6)``, as one number: 16.

A relation of one digit carries into another if that one's digit is raised where the first is 9.
"""

from __future__ import annotations

from collections.abc import Iterable

from gdl.rules import Literal, Rules
from gdl.terms import NEXT, TRUE, Term

_MOST_DIGITS = 12


def digit_chains(rules: Rules) -> tuple[tuple[str, ...], ...]:
    """The relations of each counter, from the lowest digit up."""
    lower: dict[str, set[str]] = {}
    for rule in rules:
        if rule.head.name != NEXT or len(rule.head.args) != 1:
            continue
        head = rule.head.args[0]
        asked = [
            part.atom.args[0]
            for part in rule.body
            if isinstance(part, Literal) and part.atom.name == TRUE and len(part.atom.args) == 1
        ]
        if len(head.args) == 1 and _raised(head, asked):
            nines = {fact.name for fact in asked if len(fact.args) == 1 and fact.args[0].name == "9"}
            lower.setdefault(head.name, set()).update(nines - {head.name})
    # The third digit is raised where the second and the first are 9: the second has more below it.
    into = {
        max(sorted(below), key=lambda name: len(lower.get(name, ()))): high
        for high, below in sorted(lower.items())
        if below
    }
    chains: list[tuple[str, ...]] = []
    for start in sorted(into.keys() - set(into.values())):
        chain = [start]
        while chain[-1] in into and len(chain) < _MOST_DIGITS:
            chain.append(into[chain[-1]])
        chains.append(tuple(chain))
    return tuple(chains)


def _raised(head: Term, asked: list[Term]) -> bool:
    """Whether a rule sets a digit to another than the one it was."""
    own = [fact for fact in asked if fact.signature == head.signature]
    return bool(own) and all(fact.args[0] != head.args[0] for fact in own)


def joined_digits(
    chains: Iterable[tuple[str, ...]], facts: Iterable[Term]
) -> list[tuple[int, tuple[Term, ...]]]:
    """The value of each counter, and the facts that it is made of. A counter whose digits are not all said
    once is left out."""
    found: dict[str, list[Term]] = {}
    for fact in facts:
        if len(fact.args) == 1 and fact.args[0].name.isdecimal() and len(fact.args[0].name) <= _MOST_DIGITS:
            found.setdefault(fact.name, []).append(fact)
    joined: list[tuple[int, tuple[Term, ...]]] = []
    for chain in chains:
        digits = [found.get(name, []) for name in chain]
        if all(len(said) == 1 for said in digits):
            terms = tuple(said[0] for said in digits)
            joined.append((sum(int(t.args[0].name) * 10**i for i, t in enumerate(terms)), terms))
    return joined

"""Derived relations of a game: those that its rules define by the state alone, not by moves."""

from __future__ import annotations

from collections import defaultdict

from gdl.checks.walk import Signature, body_literals
from gdl.rules import Rules
from gdl.terms import BASE, DISTINCT, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, ROLE, TERMINAL, TRUE

_NOT_DERIVED = {BASE, DISTINCT, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, ROLE, TERMINAL, TRUE}
"""Relations of the language itself."""


def derived_relations(rules: Rules) -> list[Signature]:
    """The relations that depend on the state and not on moves, in alphabetical order."""
    asks: dict[Signature, set[Signature]] = defaultdict(set)
    for rule in rules:
        asks[rule.head.signature].update(literal.atom.signature for literal, _ in body_literals(rule))
    by_state, by_moves = _depending(asks, (TRUE, 1)), _depending(asks, (DOES, 2))
    return sorted(
        relation for relation in by_state - by_moves if relation in asks and relation[0] not in _NOT_DERIVED
    )


def _depending(asks: dict[Signature, set[Signature]], on: Signature) -> set[Signature]:
    """The relations that depend on one, at once or by others."""
    readers: dict[Signature, set[Signature]] = defaultdict(set)
    for head, asked in asks.items():
        for relation in asked:
            readers[relation].add(head)
    found, waiting = {on}, [on]
    while waiting:
        for reader in readers[waiting.pop()] - found:
            found.add(reader)
            waiting.append(reader)
    return found - {on}

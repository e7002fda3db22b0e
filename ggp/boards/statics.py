"""Derives what never changes in a game from its rules alone, by the prover: relations such as that of squares
that touch, the propositions that may ever be true, and the order of coordinates, whatever they are called."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from gdl.errors import GdlError
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.terms import ARITIES, BASE, GOAL, INIT, INPUT, LEGAL, NEXT, SEES, TERMINAL, Term, sort_key

_LIMITS = ProverLimits(rows=100_000)
_NOT_STATIC = (INIT, NEXT, LEGAL, INPUT, SEES, GOAL, TERMINAL)
_FEWEST = 4
"""Fewest coordinates seen before gaps between them are filled."""
_MOST_FILLED = 2
"""Largest number of coordinates after gaps are filled, as a multiple of those seen."""


class Statics:
    """The relations of a game that never change, as far as legal moves, goals or states depend on them.

    Args:
        prover: the game's prover; if it is None, one is made. Rules that it refuses have no relations.
    """

    def __init__(self, rules: Rules, prover: ProverMachine | None = None) -> None:
        self._signatures = {rule.head.signature for rule in rules if rule.head.name not in ARITIES}
        self._prover = prover
        if prover is None:
            with suppress(GdlError):
                self._prover = ProverMachine(rules)

    def signatures(self, arities: tuple[int, ...]) -> list[tuple[str, int]]:
        """Relations of these arities, in order."""
        return sorted(signature for signature in self._signatures if signature[1] in arities)

    def rows(self, signature: tuple[str, int], most: int) -> set[tuple[Term, ...]]:
        """All rows of a relation; none if it depends on the state, takes too long or has more than ``most``
        rows."""
        return set() if self._prover is None else self._prover.static_rows(*signature, most)


def listed_propositions(rules: Rules) -> set[Term]:
    """The propositions that may ever be true, as the rules list them; empty if there are none, or too
    many.

    The prover finds them as the first state of a game that begins with all of them.
    """
    static = [rule for rule in rules if rule.head.name not in _NOT_STATIC]
    begin = [replace(rule, head=Term(INIT, *rule.head.args)) for rule in static if rule.head.name == BASE]
    try:
        machine = ProverMachine(replace(rules, rules=(*static, *begin)), _LIMITS)
    except GdlError:  # The rules are hostile or exceed the limits.
        return set()
    return set(machine.initial_state().propositions)


@dataclass
class CoordinateOrder:
    """Orders coordinates: numbers by value, letters by the alphabet, others by a successor relation among
    the facts, else by the alphabet."""

    rules: Rules
    chains: list[dict[Term, int]] = field(init=False)

    def __post_init__(self) -> None:
        steps: dict[str, list[tuple[Term, Term]]] = defaultdict(list)
        for rule in self.rules:
            head = rule.head
            if not rule.body and head.ground and len(head.args) == 2 and head.name not in ARITIES:
                steps[head.name].append((head.args[0], head.args[1]))
        self.chains = [rank for pairs in steps.values() if len(pairs) > 1 and (rank := ranks(pairs))]

    def sure(self, domain: set[Term]) -> int:
        """1 if the domain has an order of its own, otherwise 0."""
        return int(_plain(domain) or self._chain(domain) is not None)

    def sort(self, domain: set[Term]) -> tuple[Term, ...]:
        """The coordinates in order."""
        chain = None if _plain(domain) else self._chain(domain)
        numbered = _numbered(domain)
        if numbered and (chain is None or len(numbered) == len(chain)):
            return tuple(sorted(domain, key=numbered.__getitem__))
        return tuple(sorted(domain, key=chain.__getitem__ if chain else _natural))

    def values(self, domain: set[Term]) -> dict[Term, int]:
        """The numbers that names stand for, in order: decimal digits, alone or behind one word, or steps
        along a chain from its start. Empty if the names are not numbers."""
        if all(re.fullmatch(r"[0-9]{1,6}", term.name) for term in domain):
            found = {term: int(term.name) for term in domain}
        else:
            found = _numbered(domain) or self._chain(domain) or {}
        return {term: found[term] for term in sorted(found.keys() & domain, key=found.__getitem__)}

    def filled(self, coordinates: tuple[Term, ...]) -> tuple[Term, ...]:
        """Coordinates in order, with the unseen ones between them: numbers, letters, steps of a chain."""
        domain = set(coordinates)
        if len(coordinates) < _FEWEST or any(term.args for term in coordinates):
            return coordinates
        if all(t.name.isdecimal() and len(t.name) < 4 for t in coordinates):
            numbers = [int(t.name) for t in coordinates]
            whole = [Term(str(n)) for n in range(min(numbers), max(numbers) + 1)]
        elif all(len(t.name) == 1 and "a" <= t.name <= "z" for t in coordinates):
            whole = [Term(chr(c)) for c in range(ord(coordinates[0].name), ord(coordinates[-1].name) + 1)]
        elif (chain := self._chain(domain)) is not None:
            first, last = chain[coordinates[0]], chain[coordinates[-1]]
            whole = [t for t in sorted(chain, key=chain.__getitem__) if first <= chain[t] <= last]
        else:
            return coordinates
        few = domain <= set(whole) and len(whole) <= _MOST_FILLED * len(coordinates)
        return tuple(whole) if few else coordinates

    def _chain(self, domain: set[Term]) -> dict[Term, int] | None:
        return next((chain for chain in self.chains if domain <= chain.keys()), None)


def _plain(domain: set[Term]) -> bool:
    """Whether all are numbers or letters."""
    return all(t.name.isdecimal() or len(t.name) == 1 for t in domain)


def _natural(name: Term) -> tuple[object, ...]:
    """Sort key: numbers by value, names by the alphabet; names that end with a number are sorted by that
    number too."""
    match = re.fullmatch(r"([a-z_]+)([0-9]{1,6})", name.name)
    if match is None or name.args:
        return (1, sort_key(name))
    return (1, sort_key(Term(match[1])), int(match[2]))


def _numbered(domain: set[Term]) -> dict[Term, int]:
    """The numbers at the end of all names after the same word; empty if the names differ in another way."""
    found = {t: re.fullmatch(r"([a-z_]+)([0-9]{1,6})", t.name) for t in domain if not t.args}
    matches = {t: match for t, match in found.items() if match}
    if len(matches) < len(domain) or len({match[1] for match in matches.values()}) > 1:
        return {}
    return {t: int(match[2]) for t, match in matches.items()}


def ranks(pairs: Sequence[Sequence[Term]]) -> dict[Term, int]:
    """Ranks along a chain of steps; empty if the pairs are not one single chain."""
    after = {pair[0]: pair[1] for pair in pairs}
    starts = after.keys() - set(after.values())
    if len(starts) != 1 or not len(after) == len(pairs) == len(set(after.values())):
        return {}
    rank: dict[Term, int] = {}
    at: Term | None = starts.pop()
    while at is not None:
        rank[at] = len(rank)
        at = after.get(at)
    return rank if len(rank) == len(pairs) + 1 else {}

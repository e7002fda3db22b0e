"""The order of a board's coordinates, whatever they are called: from numbers, letters or facts."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from gdl.rules import Rules
from gdl.terms import ARITIES, Term, sort_key


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
        self.chains = [rank for pairs in steps.values() if (rank := _ranks(pairs))]

    def sure(self, domain: set[Term]) -> int:
        """1 where the domain has an order of its own, else 0."""
        return int(_plain(domain) or self._chain(domain) is not None)

    def sort(self, domain: set[Term]) -> tuple[Term, ...]:
        """The coordinates in order."""
        chain = None if _plain(domain) else self._chain(domain)
        numbered = _numbered(domain)
        if numbered and (chain is None or len(numbered) == len(chain)):
            return tuple(sorted(domain, key=numbered.__getitem__))
        return tuple(sorted(domain, key=chain.__getitem__ if chain else _natural))

    def _chain(self, domain: set[Term]) -> dict[Term, int] | None:
        return next((chain for chain in self.chains if domain <= chain.keys()), None)


def _plain(domain: set[Term]) -> bool:
    """Whether all are numbers or letters."""
    return all(t.name.isdecimal() or len(t.name) == 1 for t in domain)


def _natural(name: Term) -> tuple[object, ...]:
    """Numbers by value, names by the alphabet, and where they end with a number by that."""
    match = re.fullmatch(r"([a-z_]+)([0-9]{1,6})", name.name)
    if match is None or name.args:
        return (1, sort_key(name))
    return (1, sort_key(Term(match[1])), int(match[2]))


def _numbered(domain: set[Term]) -> dict[Term, int]:
    """The numbers that all names end with after the same word; empty where they do not."""
    found = {t: re.fullmatch(r"([a-z_]+)([0-9]{1,6})", t.name) for t in domain if not t.args}
    matches = {t: match for t, match in found.items() if match}
    if len(matches) < len(domain) or len({match[1] for match in matches.values()}) > 1:
        return {}
    return {t: int(match[2]) for t, match in matches.items()}


def _ranks(pairs: list[tuple[Term, Term]]) -> dict[Term, int]:
    """Ranks along a chain of steps; empty if the pairs are not one single chain."""
    after = dict(pairs)
    if len(pairs) < 2 or not len(after) == len(pairs) == len(set(after.values())):
        return {}
    starts = after.keys() - set(after.values())
    if len(starts) != 1:
        return {}
    rank: dict[Term, int] = {}
    at: Term | None = starts.pop()
    while at is not None:
        rank[at] = len(rank)
        at = after.get(at)
    return rank if len(rank) == len(pairs) + 1 else {}

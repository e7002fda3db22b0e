"""The order of a board's coordinates, whatever they are called: from numbers, letters or facts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from gdl.rules import Rules
from gdl.terms import ARITIES, Term


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
        return tuple(sorted(domain, key=chain.__getitem__ if chain else None))

    def _chain(self, domain: set[Term]) -> dict[Term, int] | None:
        return next((chain for chain in self.chains if domain <= chain.keys()), None)


def _plain(domain: set[Term]) -> bool:
    """Whether all are numbers or letters."""
    return all(t.name.isdecimal() or len(t.name) == 1 for t in domain)


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

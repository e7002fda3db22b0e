"""Coordinates: in which order the constants of a board's rows and columns stand, as the rules show.

A relation such as ``(succ 1 2)`` that leads from each constant to at most one other, through all of them, is
an order. So are the arguments of ``(four_columns a b c d)``, taken two by two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from gdl.rules import Rules
from gdl.terms import Term

Ranks = dict[Term, int]

_MOST_DIGITS = 9
"""Longer numbers number no rows."""


class Coordinates:
    """The orders that the facts of some rules show."""

    def __init__(self, rules: Rules) -> None:
        links: dict[str, set[tuple[Term, Term]]] = defaultdict(set)
        for rule in rules:
            arguments = rule.head.args
            if not rule.body and len(arguments) > 1 and all(not term.args for term in arguments):
                links[f"{rule.head.name}/{len(arguments)}"] |= set(pairwise(arguments))
        self._links = links

    def order(self, constants: Iterable[Term]) -> Ranks | None:
        """The places of the constants, from 0; None if no relation orders them and they are no numbers."""
        wanted = set(constants)
        if len(wanted) == 1:
            return dict.fromkeys(wanted, 0)
        for links in self._links.values():
            inside = {(a, b) for a, b in links if a in wanted and b in wanted and a != b}
            if len(inside) == len(wanted) - 1 and (order := _chain(wanted, inside)):
                return order
        if all(_is_number(term) for term in wanted):
            return {term: int(term.name) for term in wanted}
        return None


def _chain(wanted: set[Term], links: set[tuple[Term, Term]]) -> Ranks | None:
    """The order in which links lead through all constants; None if they are no path."""
    after = dict(links)
    firsts = wanted - set(after.values())
    if len(after) < len(links) or len(firsts) != 1:
        return None
    term: Term | None = firsts.pop()
    order: Ranks = {}
    while term is not None and term not in order:
        order[term] = len(order)
        term = after.get(term)
    return order if len(order) == len(wanted) else None


def _is_number(term: Term) -> bool:
    return not term.args and len(term.name) <= _MOST_DIGITS and term.name.isascii() and term.name.isdigit()

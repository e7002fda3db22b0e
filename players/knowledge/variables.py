"""Structure found in the form of propositions: variables with several values, and the order of rows and
columns.

Variables are groups of propositions that exclude each other, such as the contents of a square, found in play.
In ``(cell 3 4 queen)`` the last argument is a value if no state of some games has two propositions that
differ in it alone. If one of them always holds, the most common one has the value 0.

A relation such as ``(succ 1 2)`` that leads from each constant to at most one other, through all of them, is
an order of these constants. So are the arguments of ``(four_columns a b c d)``, taken two by two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.rules import Rules
from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames

_MOST_VALUES = 32
"""Groups with more values are not variables: tables over them would be too large."""

_Holds = NDArray[np.bool_]


@dataclass(frozen=True)
class MultiValued:
    """A variable.

    Attributes:
        kind: the common name of its propositions.
        key: the arguments that are the same in all its propositions.
        codes: base proposition -> its value, 1, 2, ...; equal in all variables of a kind. The value is 0 if
            none of these holds.
        radix: number of values of variables of its kind, 0 included.
    """

    kind: str
    key: tuple[Term, ...]
    codes: tuple[tuple[int, int], ...]
    radix: int


def variables_of(bases: tuple[Term, ...], holds: _Holds, names: CanonicalNames) -> list[MultiValued]:
    """The variables of a game by the states seen, bool, shape (states, bases). Each proposition belongs to at
    most one, propositions that never changed to none."""
    seen = holds.any(axis=0) & ~holds.all(axis=0)
    kinds: dict[tuple[str, int], list[int]] = defaultdict(list)
    for base in np.flatnonzero(seen).tolist():
        kinds[bases[base].name, len(bases[base].args)].append(base)
    found: list[MultiValued] = []
    for members in kinds.values():
        found += _of_kind(bases, members, holds, names)
    return found


def _of_kind(
    bases: tuple[Term, ...], members: list[int], holds: _Holds, names: CanonicalNames
) -> list[MultiValued]:
    """The fewest variables that these propositions, of the same name, fall into."""
    arity = len(bases[members[0]].args)
    best: tuple[dict[tuple[Term, ...], list[int]], tuple[int, ...]] | None = None
    for size in (2, 1):
        for places in combinations(range(arity), size):
            groups: dict[tuple[Term, ...], list[int]] = defaultdict(list)
            for base in members:
                groups[_split(bases[base], places)[0]].append(base)
            values = {_split(bases[base], places)[1] for base in members}
            if len(values) > _MOST_VALUES or (best is not None and len(groups) >= len(best[0])):
                continue
            if all(holds[:, group].sum(axis=1).max() <= 1 for group in groups.values()):
                best = groups, places
    if best is None:
        return [MultiValued(bases[base].name, bases[base].args, ((base, 1),), 2) for base in members]
    return list(_numbered(bases, *best, holds, names))


def _split(term: Term, places: tuple[int, ...]) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """The arguments that name the variable, and those that are its value."""
    key = tuple(argument for place, argument in enumerate(term.args) if place not in places)
    return key, tuple(term.args[place] for place in places)


def _numbered(
    bases: tuple[Term, ...],
    groups: dict[tuple[Term, ...], list[int]],
    places: tuple[int, ...],
    holds: _Holds,
    names: CanonicalNames,
) -> list[MultiValued]:
    often: dict[tuple[Term, ...], int] = defaultdict(int)
    for group in groups.values():
        for base in group:
            often[_split(bases[base], places)[1]] += int(holds[:, base].sum())
    values = sorted(often, key=lambda value: [names.key(part) for part in value])
    if all(holds[:, group].any(axis=1).all() for group in groups.values()):
        usual = max(values, key=lambda value: often[value])
        values = [usual, *(value for value in values if value != usual)]
        code = {value: number for number, value in enumerate(values)}
    else:
        code = {value: number for number, value in enumerate(values, 1)}
    radix = max(code.values()) + 1
    found = []
    for key, group in groups.items():
        coded = [(base, code[_split(bases[base], places)[1]]) for base in group]
        codes = tuple((base, number) for base, number in coded if number)
        if codes:
            found.append(MultiValued(bases[group[0]].name, key, codes, radix))
    return found


Ranks = dict[Term, int]

_MOST_DIGITS = 9
"""Longer numbers do not number rows."""


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
        """The places of the constants, from 0; None if no relation orders them and they are not numbers."""
        targets = set(constants)
        if len(targets) == 1:
            return dict.fromkeys(targets, 0)
        for links in self._links.values():
            inside = {(a, b) for a, b in links if a in targets and b in targets and a != b}
            if len(inside) == len(targets) - 1 and (order := _chain(targets, inside)):
                return order
        if all(_is_number(term) for term in targets):
            return {term: int(term.name) for term in targets}
        return None


def _chain(wanted: set[Term], links: set[tuple[Term, Term]]) -> Ranks | None:
    """The order in which links lead through all constants; None if they are not a path."""
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

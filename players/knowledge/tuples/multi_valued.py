"""Variables with several values, found in play: groups of propositions that exclude each other, such as what
stands on a square, told by the form of their terms.

In ``(cell 3 4 queen)`` the last argument is a value if no state of some games has two propositions that
differ in it alone. Where one of them always holds the commonest one has the value 0.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames

MOST_VALUES = 32
"""Variables with more are none: tables over them would be too large."""

Holds = NDArray[np.bool_]


@dataclass(frozen=True)
class MultiValued:
    """A variable.

    Attributes:
        kind: the name that its propositions have in common.
        key: their arguments that are the same in all.
        codes: base proposition -> its value, 1, 2, ...; equal in all variables of a kind. The value is 0
            where none of these holds.
        radix: how many values those of its kind have, 0 included.
    """

    kind: str
    key: tuple[Term, ...]
    codes: tuple[tuple[int, int], ...]
    radix: int


def variables_of(bases: tuple[Term, ...], holds: Holds, names: CanonicalNames) -> list[MultiValued]:
    """The variables of a game by the states seen, bool, shape (states, bases). Each proposition belongs to
    one at most; those that never changed to none."""
    seen = holds.any(axis=0) & ~holds.all(axis=0)
    kinds: dict[tuple[str, int], list[int]] = defaultdict(list)
    for base in np.flatnonzero(seen).tolist():
        kinds[bases[base].name, len(bases[base].args)].append(base)
    found: list[MultiValued] = []
    for members in kinds.values():
        found += _of_kind(bases, members, holds, names)
    return found


def _of_kind(
    bases: tuple[Term, ...], members: list[int], holds: Holds, names: CanonicalNames
) -> list[MultiValued]:
    """The fewest variables that these propositions, alike in name, fall into."""
    arity = len(bases[members[0]].args)
    best: tuple[dict[tuple[Term, ...], list[int]], tuple[int, ...]] | None = None
    for size in (2, 1):
        for places in combinations(range(arity), size):
            groups: dict[tuple[Term, ...], list[int]] = defaultdict(list)
            for base in members:
                groups[_split(bases[base], places)[0]].append(base)
            values = {_split(bases[base], places)[1] for base in members}
            if len(values) > MOST_VALUES or (best is not None and len(groups) >= len(best[0])):
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
    holds: Holds,
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

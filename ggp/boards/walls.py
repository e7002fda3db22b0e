"""What never moves on a board: walls and holes, which nothing enters, and walls between two squares."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from gdl.terms import Term
from ggp.boards.layers import Layer, Square, Thing

_WALL = re.compile(r"wall|hole|block|limit|obstacle|rock|stone|void|border|forbidden")
_WAYS = ("north", "south", "east", "west")
_MUCH = 0.25
"""Part of all squares that a thing without such a name fills which is a wall."""
_LIKELY = 4
"""Squares that hold a thing without such a name before it is taken for a wall."""


def still_things(layers: tuple[Layer, ...], states: Sequence[frozenset[Term]]) -> dict[Thing, set[Square]]:
    """The things that stand on the same squares in all states, and these squares."""
    still: dict[Thing, set[Square]] = {}
    for i, state in enumerate(states):
        here: dict[Thing, set[Square]] = defaultdict(set)
        for square, thing in _standing(layers, state):
            here[thing].add(square)
        if not i:
            still = dict(here)
        else:
            still = {thing: squares for thing, squares in still.items() if here.get(thing) == squares}
        if not still:
            break
    return still if len(states) > 1 else {}


def floor_things(layers: tuple[Layer, ...], states: Sequence[frozenset[Term]], squares: int) -> set[Thing]:
    """What a relation without contents says of most squares in every state, on a board that has other
    things too: that they are there."""
    plain: set[Thing] = {(Term(layer.name),) for layer in layers if not layer.contents}
    still = still_things(tuple(layer for layer in layers if not layer.contents), states)
    found = {thing for thing in plain & still.keys() if 2 * len(still[thing]) > squares}
    return found if len(layers) > len(found) else set()


def walls(
    layers: tuple[Layer, ...],
    states: Sequence[frozenset[Term]],
    fixed: dict[Square, list[Thing]],
    blanks: set[Thing],
) -> tuple[frozenset[Thing], dict[Thing, str]]:
    """The things that fill their squares, since nothing else ever stands there, and the walls beside squares,
    each with its side, ``north``, ``south``, ``east`` or ``west``: those need their names."""
    still = still_things(layers, states)
    sides = {
        thing: way
        for thing, squares in still.items()
        if len(squares) > 1 and (way := _way(thing)) and not _numbers(thing)
    }
    entered: dict[Square, set[Thing]] = defaultdict(set)
    for state in states:
        for square, thing in _standing(layers, state):
            if thing not in blanks and thing not in sides:
                entered[square].add(thing)
    solid: set[Thing] = set()
    for thing, squares in still.items():
        alone = all(entered[square] <= {thing} for square in squares)
        many = len(squares) >= max(2 * _LIKELY, _MUCH * len(entered)) and not _numbers(thing)
        if alone and thing not in blanks and thing not in sides and (many or _named(thing)):
            solid.add(thing)
    count = Counter(thing for things in fixed.values() for thing in things)
    sides |= {thing: way for thing in count if (way := _way(thing)) and not _numbers(thing)}
    for thing, number in count.most_common():
        if thing in sides:
            continue
        squares = {square for square, things in fixed.items() if thing in things}
        if any(entered[square] - solid for square in squares):
            continue
        most = number >= _LIKELY and all(other == thing or n < number for other, n in count.items())
        if most or _named(thing):
            solid.add(thing)
    return frozenset(solid), sides


def _standing(layers: tuple[Layer, ...], state: frozenset[Term]) -> Iterator[tuple[Square, Thing]]:
    by_functor = {(layer.name, layer.arity): layer for layer in layers}
    for term in state:
        layer = by_functor.get(term.signature)
        if layer is not None:
            yield layer.square(term), layer.thing(term)


def _named(thing: Thing) -> bool:
    return any(_WALL.search(term.name) for term in thing)


def _numbers(thing: Thing) -> bool:
    return any(term.name.isdecimal() for term in thing)


def _way(thing: Thing) -> str:
    """The side that a thing's name has in it, if it is one only."""
    text = " ".join(term.name for term in thing)
    found = [way for way in _WAYS if way in text]
    return found[0] if len(found) == 1 else ""


def without_holes(squares: set[Square], columns: Sequence[Term], rows: Sequence[Term]) -> set[Square]:
    """The squares with those between them: where walls stand beside squares, some have none and may never be
    named."""
    whole = set(squares)
    for panel in {p for p, _, _ in squares}:
        wide: dict[Term, list[int]] = defaultdict(list)
        high: dict[Term, list[int]] = defaultdict(list)
        for i, x in enumerate(columns):
            for j, y in enumerate(rows):
                if (panel, x, y) in squares:
                    wide[y].append(i)
                    high[x].append(j)
        whole |= {
            (panel, x, y)
            for i, x in enumerate(columns)
            for j, y in enumerate(rows)
            if wide[y] and high[x] and wide[y][0] < i < wide[y][-1] and high[x][0] < j < high[x][-1]
        }
    return whole

"""Base propositions grouped by what they say of which square, read from the build of their terms; and machine
states as positions and back: which propositions are true where a square is empty, has the keeper on it, or a
box of some kind.

A term is a list of symbols; which symbols these are means nothing. The keeper's propositions are alike but
for some places in the list, the *coordinates*, and exactly one of them is true. Everything else that is said
of squares uses the same coordinates, with other symbols around them: that is a *content*, as ``(box X Y)``,
``(at crate3 X Y)`` or ``(cell X Y empty)``. What is guessed here is only a guess: it is tried out later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from propnet.jit.arrays import Flags, Int32s, Octets

Symbols = tuple[str, ...]

_MOST_PLACES = 6
"""Symbols in a term that is looked at."""
_FEWEST_SQUARES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Propositions that say the same of different squares.

    Attributes:
        bases: int32: their ids.
        squares: int32: the number of each one's square, as :class:`Guess` numbers them.
    """

    bases: Int32s
    squares: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A reading of the base propositions.

    Attributes:
        squares: how many squares there are.
        names: the symbols of each square; those that the keeper may stand on come first.
        keeper: where the keeper is.
        others: everything else that is said of squares.
    """

    squares: int
    names: tuple[Symbols, ...]
    keeper: Content
    others: tuple[Content, ...]


def guesses(
    terms: Sequence[Term], open_: Flags, fading: Flags, initial: Flags, after: Flags
) -> Iterator[Guess]:
    """Readings of the base propositions, the likeliest first.

    Args:
        terms: the base propositions.
        open_: bool, shape (bases,): those that are to be read; the others are clocks or never change.
        fading: bool, shape (bases,): those that are true at first and never again. One of them may be the
            keeper's, where he never comes back to his first square.
        initial: bool, shape (bases,): what is true at first.
        after: bool, shape (n, bases): what is true after each first move that changes anything.
    """
    wanted = np.flatnonzero(open_ | fading).tolist()
    shapes: dict[object, list[int]] = defaultdict(list)
    symbols: dict[int, Symbols] = {}
    for base in wanted:
        shape, symbols[base] = taken_apart(terms[base])
        shapes[shape].append(base)
    # The keeper leaves his square with every move that does anything.
    left = np.flatnonzero((open_ | fading) & initial & ~after.any(axis=0)).tolist()
    states = np.vstack([initial[None], after])
    for base in left:
        group = next(bases for bases in shapes.values() if base in bases)
        for places in _coordinates(group, symbols, base, states):
            guess = _read(shapes, symbols, group, places, base, fading)
            if guess is not None:
                yield guess


def name_changes(steps: Iterable[tuple[int, int]], guess: Guess) -> list[dict[tuple[int, int], Hashable]]:
    """What each step from square to square changes in their names, as a label of the step; nothing if names
    are single symbols."""
    if len(guess.names[0]) < 2:
        return []
    labels: dict[tuple[int, int], Hashable] = {}
    for start, to in steps:
        if max(start, to) >= len(guess.names):
            continue
        pairs = enumerate(zip(guess.names[start], guess.names[to], strict=True))
        labels[start, to] = tuple((place, a, b) for place, (a, b) in pairs if a != b)
    return [labels]


def taken_apart(term: Term) -> tuple[object, Symbols]:
    """A term's shape, with all symbols but the outermost one taken out, and these symbols in order."""
    symbols: list[str] = []

    def shape(inner: Term) -> object:
        if not inner.args:
            symbols.append(inner.name)
            return None
        return inner.name, *map(shape, inner.args)

    if not term.args:
        return term.name, ()
    return shape(term), tuple(symbols)


def _coordinates(
    group: list[int], symbols: dict[int, Symbols], base: int, states: Flags
) -> Iterator[tuple[int, ...]]:
    """Places of the symbols such that, of the propositions that differ from this one in these places only,
    exactly one is true in all states; the largest group first."""
    own = symbols[base]
    if len(own) > _MOST_PLACES:
        return
    found: list[tuple[int, tuple[int, ...]]] = []
    for count in range(1, len(own) + 1):
        for places in combinations(range(len(own)), count):
            alike = [other for other in group if _differs_only_in(symbols[other], own, places)]
            if len(alike) >= _FEWEST_SQUARES and (states[:, alike].sum(axis=1) == 1).all():
                found.append((len(alike), places))
    sizes = set()
    for size, places in sorted(found, key=lambda item: (-item[0], len(item[1]))):
        if size not in sizes:
            sizes.add(size)
            yield places


def _differs_only_in(one: Symbols, other: Symbols, places: tuple[int, ...]) -> bool:
    return all(place in places or a == b for place, (a, b) in enumerate(zip(one, other, strict=True)))


def _read(
    shapes: dict[object, list[int]],
    symbols: dict[int, Symbols],
    group: list[int],
    places: tuple[int, ...],
    base: int,
    fading: Flags,
) -> Guess | None:
    """The reading with these coordinates of the keeper; None if some propositions are not of a square."""
    own = symbols[base]
    keeper = [other for other in group if _differs_only_in(symbols[other], own, places)]
    names = {tuple(symbols[other][place] for place in places): i for i, other in enumerate(keeper)}
    standing = set(names)
    used = set(keeper)
    others: list[Content] = []
    for bases in shapes.values():
        rest = [other for other in bases if other not in used and not fading[other]]
        if not rest:
            continue
        where = _where(rest, symbols, standing, places)
        if where is None:
            return None
        contents: dict[Symbols, list[tuple[int, int]]] = defaultdict(list)
        for other in rest:
            said = tuple(symbol for place, symbol in enumerate(symbols[other]) if place not in where)
            square = names.setdefault(tuple(symbols[other][place] for place in where), len(names))
            contents[said].append((other, square))
        others += [_content(pairs) for _, pairs in sorted(contents.items())]
    return Guess(
        len(names), tuple(names), _content([(other, i) for i, other in enumerate(keeper)]), tuple(others)
    )


def _where(
    bases: list[int], symbols: dict[int, Symbols], standing: set[Symbols], places: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The coordinates of other propositions: the places with the most names of squares that the keeper stands
    on; None if there are few. Boxes may be where he never stands."""
    width = len(symbols[bases[0]])
    best = 0
    found: tuple[int, ...] | None = None
    for where in (places, *combinations(range(width), len(places))):
        if where[-1] < width:
            named = {tuple(symbols[base][place] for place in where) for base in bases}
            known = len(standing & named)
            if known > best and 2 * known >= min(len(standing), len(named)):
                best, found = known, where
    return found


def _content(pairs: list[tuple[int, int]]) -> Content:
    bases, squares = zip(*pairs, strict=True)
    return Content(np.array(bases, np.int32), np.array(squares, np.int32))


EMPTY, KEEPER, BOX = range(3)
"""What a square holds: nothing, the keeper, a box of kind 0. Boxes of other kinds have the numbers after."""

_MOST_KINDS = 250


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How statuses of squares are written in base propositions.

    Attributes:
        squares: how many squares there are.
        kinds: int32, shape (kinds,): how many boxes there are of each kind. Boxes with names are of a kind
            each; boxes without are all of one.
        rows: for each content its bases and squares, and bool, shape (2 + kinds,): whether it is true of a
            square of that status.
        background: bool, shape (bases,): the values of all other propositions.
        can_hold, can_stand: bool, shape (squares,): whether there are propositions for a box there, and for
            the keeper.
    """

    squares: int
    kinds: Int32s
    rows: tuple[tuple[Content, Flags], ...]
    background: Flags
    can_hold: Flags
    can_stand: Flags

    def widened(self, squares: int) -> Encoding:
        """The same with so many squares, of which nothing is said of the new ones."""
        more = np.zeros(squares - self.squares, np.bool_)
        return replace(
            self,
            squares=squares,
            can_hold=np.concatenate([self.can_hold, more]),
            can_stand=np.concatenate([self.can_stand, more]),
        )

    def narrowed(self, can_hold: Flags) -> Encoding:
        """The same with boxes on these squares alone."""
        return replace(self, can_hold=self.can_hold & can_hold)

    def bits(self, status: Octets) -> Flags:
        """The propositions that are true, bool (n, bases), of statuses, uint8 (n, squares)."""
        bits = np.repeat(self.background[None], len(status), axis=0)
        for content, true_of in self.rows:
            bits[:, content.bases] = true_of[status[:, content.squares]]
        return bits

    def status(self, bits: Flags) -> Octets:
        """The statuses, uint8 (n, squares), that some propositions, bool (n, bases), say. Whether they say no
        more, and nothing else, is known when :meth:`bits` leads back."""
        status = np.full((len(bits), self.squares), EMPTY, np.uint8)
        for number in range(len(self.kinds), -1, -1):
            content, _ = self.rows[number]
            some = status[:, content.squares]
            some[bits[:, content.bases]] = KEEPER + number
            status[:, content.squares] = some
        return status


def encodings(guess: Guess, initial: Flags, after: Flags) -> Iterator[Encoding]:
    """The ways to read this guess that fit the initial state and one after a first move, both bool (bases,);
    the likeliest first."""
    keeper = int(guess.keeper.squares[initial[guess.keeper.bases]][0])
    true = [content.squares[initial[content.bases]] for content in guess.others]
    # What is true of some squares, not of the keeper's, says that a box is there, or nothing, or a wall.
    said = [i for i in range(len(true)) if len(true[i]) and keeper not in true[i]]
    said.sort(key=lambda i: len(true[i]))
    solid = _solid(guess, keeper, initial, after)
    for without in range(min(3, len(said))):
        encoding = _encoding(guess, said[: len(said) - without], true, keeper, initial, solid)
        if encoding is not None:
            yield encoding


def _solid(guess: Guess, keeper: int, initial: Flags, after: Flags) -> list[Flags]:
    """Per content, bool (squares,): where something else is said than of the empty square that the keeper has
    left."""
    solid: list[Flags] = []
    for content in guess.others:
        other = np.zeros(guess.squares, np.bool_)
        here = content.bases[content.squares == keeper]
        if len(here):
            other[content.squares] = initial[content.bases] != after[here[0]]
        solid.append(other)
    return solid


def _encoding(
    guess: Guess, boxes: list[int], true: list[Int32s], keeper: int, initial: Flags, solid: list[Flags]
) -> Encoding | None:
    """The encoding in which these contents are the kinds of boxes; None if it does not fit the initial state.

    Squares of which something else is said than of empty ones are walls: they stay as they are."""
    if len(boxes) > _MOST_KINDS:
        return None
    status = np.full(guess.squares, EMPTY, np.uint8)
    status[keeper] = KEEPER
    can_hold = np.ones(guess.squares, np.bool_)
    for kind, i in enumerate(boxes):
        if (status[true[i]] != EMPTY).any():
            return None
        status[true[i]] = BOX + kind
        can_hold &= np.isin(np.arange(guess.squares), guess.others[i].squares)
    wall = np.zeros(guess.squares, np.bool_)
    for i, other in enumerate(solid):
        if i not in boxes:
            wall |= other & (status == EMPTY)
    statuses = BOX + len(boxes)
    rows = [(_without(guess.keeper, wall), np.arange(statuses) == KEEPER)]
    rows += [
        (_without(guess.others[i], wall), np.arange(statuses) == BOX + kind) for kind, i in enumerate(boxes)
    ]
    for i in range(len(guess.others)):
        if i not in boxes:
            content = _without(guess.others[i], wall)
            true_of = _true_of(status[content.squares], initial[content.bases], statuses)
            if true_of is None:
                return None
            rows.append((content, true_of))
    return Encoding(
        guess.squares,
        np.array([len(true[i]) for i in boxes], np.int32),
        tuple(rows),
        initial,
        can_hold & ~wall,
        np.isin(np.arange(guess.squares), guess.keeper.squares) & ~wall,
    )


def _without(content: Content, wall: Flags) -> Content:
    """A content of the squares that are no walls."""
    kept = ~wall[content.squares]
    return Content(content.bases[kept], content.squares[kept])


def _true_of(status: Octets, values: NDArray[np.bool_], statuses: int) -> Flags | None:
    """Of which statuses a content is true; None if two squares of one status differ."""
    true_of = np.zeros(statuses, np.bool_)
    kinds = [[EMPTY], [KEEPER], list(range(BOX, statuses))]
    for alike in kinds:
        seen = values[np.isin(status, alike)]
        if len(seen) and seen.any() != seen.all():
            return None
        true_of[alike] = bool(len(seen) and seen[0])
    return true_of

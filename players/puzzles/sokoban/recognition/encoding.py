"""Base propositions grouped by their squares, read from the structure of their terms; and machine states as
positions and back: which propositions are true of an empty square, of the keeper's, and of a square with a
box of some kind.

A term is a list of symbols, whose names mean nothing. The keeper's propositions are alike except for some
places in the list, the *coordinates*, and exactly one of them is true. All other propositions about squares
use the same coordinates, with other symbols around them: such a group is a *content*, for example
``(box X Y)``, ``(at crate3 X Y)`` or ``(cell X Y empty)``. A reading is only a guess: it is tested later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from propnet.jit.arrays import Flags, Int32s, Octets

Symbols = tuple[str, ...]

_MOST_PLACES = 6
"""The most symbols in a term that is examined."""
_FEWEST_SQUARES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Propositions with the same meaning for different squares.

    Attributes:
        bases: int32: their ids.
        squares: int32: the square of each proposition, as numbered by :class:`Guess`.
    """

    bases: Int32s
    squares: Int32s


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A reading of the base propositions.

    Attributes:
        squares: the number of squares.
        names: the symbols of each square; those on which the keeper may stand come first.
        keeper: the content of the keeper.
        others: all other contents.
    """

    squares: int
    names: tuple[Symbols, ...]
    keeper: Content
    others: tuple[Content, ...]


def guesses(
    terms: Sequence[Term], open_: Flags, fading: Flags, initial: Flags, after: Flags
) -> Iterator[Guess]:
    """Yield readings of the base propositions, the likeliest first.

    Args:
        terms: the base propositions.
        open_: bool, shape (bases,): the propositions to read; the others are clocks or never change.
        fading: bool, shape (bases,): the propositions that are true at first and never again. One of them may
            be the keeper's, if he never comes back to his first square.
        initial: bool, shape (bases,): the initial state.
        after: bool, shape (n, bases): the state after each first move that changes anything.
    """
    to_read = np.flatnonzero(open_ | fading).tolist()
    shapes: dict[object, list[int]] = defaultdict(list)
    symbols: dict[int, Symbols] = {}
    for base in to_read:
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
    """Return the change of names of each step from square to square, as a label of the step; an empty list if
    names are single symbols."""
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
    """Return a term's shape, with all symbols but the outermost one removed, and these symbols in order."""
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
    """Yield places of the symbols such that exactly one of the propositions that differ from this one only in
    these places is true in every state; the largest group first."""
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
    """Return the reading with these coordinates of the keeper; None if some propositions are not about a
    square."""
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
            label = tuple(symbol for place, symbol in enumerate(symbols[other]) if place not in where)
            square = names.setdefault(tuple(symbols[other][place] for place in where), len(names))
            contents[label].append((other, square))
        others += [_content(pairs) for _, pairs in sorted(contents.items())]
    return Guess(
        len(names), tuple(names), _content([(other, i) for i, other in enumerate(keeper)]), tuple(others)
    )


def _where(
    bases: list[int], symbols: dict[int, Symbols], standing: set[Symbols], places: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return the coordinates of other propositions: the places with the most names of the keeper's squares;
    None if there are few. Boxes may be on squares where he never stands."""
    width = len(symbols[bases[0]])
    best = 0
    found: tuple[int, ...] | None = None
    for where in (places, *combinations(range(width), len(places))):
        if where[-1] < width:
            named = {tuple(symbols[base][place] for place in where) for base in bases}
            shared = len(standing & named)
            if shared > best and 2 * shared >= min(len(standing), len(named)):
                best, found = shared, where
    return found


def _content(pairs: list[tuple[int, int]]) -> Content:
    bases, squares = zip(*pairs, strict=True)
    return Content(np.array(bases, np.int32), np.array(squares, np.int32))


EMPTY, KEEPER, BOX = range(3)
"""The contents of a square: nothing, the keeper, a box of kind 0. Boxes of other kinds have the next
numbers."""

_MOST_KINDS = 250


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """The encoding of statuses of squares in base propositions.

    Attributes:
        squares: the number of squares.
        kinds: int32, shape (kinds,): the number of boxes of each kind. Each box with a name is its own kind;
            boxes without names are all of one kind.
        rows: for each content its bases and squares, and bool, shape (2 + kinds,): whether the content is
            true of a square of that status.
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

    def bits(self, status: Octets) -> Flags:
        """Return the true propositions, bool (n, bases), of statuses, uint8 (n, squares)."""
        bits = np.repeat(self.background[None], len(status), axis=0)
        for content, true_of in self.rows:
            bits[:, content.bases] = true_of[status[:, content.squares]]
        return bits

    def status(self, bits: Flags) -> Octets:
        """Return the statuses, uint8 (n, squares), of propositions, bool (n, bases). They describe the
        propositions completely only if :meth:`bits` leads back to these."""
        status = np.full((len(bits), self.squares), EMPTY, np.uint8)
        for number in range(len(self.kinds), -1, -1):
            content, _ = self.rows[number]
            some = status[:, content.squares]
            some[bits[:, content.bases]] = KEEPER + number
            status[:, content.squares] = some
        return status


def encodings(guess: Guess, initial: Flags, after: Flags) -> Iterator[Encoding]:
    """Yield the encodings of this guess that fit the initial state and one after a first move, both bool
    (bases,); the likeliest first."""
    keeper = int(guess.keeper.squares[initial[guess.keeper.bases]][0])
    true = [content.squares[initial[content.bases]] for content in guess.others]
    # A content that is true of some squares, but not of the keeper's, means a box, nothing, or a wall.
    candidates = [i for i in range(len(true)) if len(true[i]) and keeper not in true[i]]
    candidates.sort(key=lambda i: len(true[i]))
    solid = _solid(guess, keeper, initial, after)
    for without in range(min(3, len(candidates))):
        encoding = _encoding(guess, candidates[: len(candidates) - without], true, keeper, initial, solid)
        if encoding is not None:
            yield encoding


def _solid(guess: Guess, keeper: int, initial: Flags, after: Flags) -> list[Flags]:
    """Return per content, bool (squares,), the squares that differ from the empty square that the keeper has
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
    """Return the encoding in which these contents are the kinds of boxes; None if it does not fit the initial
    state.

    Squares that differ from empty ones are walls: they stay unchanged.
    """
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
    """Return a content without the squares that are walls."""
    open_squares = ~wall[content.squares]
    return Content(content.bases[open_squares], content.squares[open_squares])


def _true_of(status: Octets, values: NDArray[np.bool_], statuses: int) -> Flags | None:
    """Return the statuses for which a content is true; None if two squares of one status differ."""
    true_of = np.zeros(statuses, np.bool_)
    kinds = [[EMPTY], [KEEPER], list(range(BOX, statuses))]
    for alike in kinds:
        seen = values[np.isin(status, alike)]
        if len(seen) and seen.any() != seen.all():
            return None
        true_of[alike] = bool(len(seen) and seen[0])
    return true_of

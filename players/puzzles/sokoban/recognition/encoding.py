"""Machine states as positions and back: which propositions are true where a square is empty, has the keeper
on it, or a box of some kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from players.puzzles.sokoban.recognition.contents import Content, Guess
from propnet.jit.arrays import Flags, Int32s, Octets

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

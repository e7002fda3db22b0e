"""Directions for the steps between squares that have none: up, right, down and left by consistency.

The known facts are the pairs of neighbouring squares, the square straight ahead of a step (a box pushed from
the first onto the second square goes there), and hints that two steps may have the same direction. Union-find
joins steps of one direction with their opposites; the parts get directions by backtracking.

If a move is a push, the keeper walks over squares without propositions, because no box ever gets there and he
never stops there. The known facts are the pairs of squares between which he can walk with boxes on all
others. Hidden squares are added that allow exactly these walks.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Set
from itertools import combinations, pairwise

import numpy as np

from players.puzzles.sokoban.geometry import STEPS
from propnet.jit.arrays import Int32s

Step = tuple[int, int]
"""From a square to a neighbouring one."""

Label = Hashable

_EFFORT = 20_000
"""The most directions of parts that are tried."""


class _ConflictError(Exception):
    """Two steps would need both the same direction and different ones."""


class _Parts:
    """Steps whose directions are known relative to each other: the same (0) or opposite (2)."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._above = {step: (step, 0) for step in steps}

    def find(self, step: Step) -> tuple[Step, int]:
        """Return the representative step of a part, and the turn of this step against it."""
        above, turn = self._above[step]
        if above == step:
            return step, 0
        top, more = self.find(above)
        self._above[step] = top, (turn + more) % 4
        return self._above[step]

    def join(self, one: Step, other: Step, turn: int = 0) -> None:
        """Set the other step's direction to the first one's plus ``turn`` quarter turns."""
        (a, x), (b, y) = self.find(one), self.find(other)
        if a == b:
            if (y - x - turn) % 4:
                raise _ConflictError
        else:
            self._above[b] = a, (x + turn - y) % 4


def neighbours_of(
    squares: int, ahead: Mapping[Step, int | None], hints: Iterable[Mapping[Step, Label]]
) -> Int32s | None:
    """Return the neighbours of every square, as :class:`~players.puzzles.sokoban.geometry.Geometry` stores
    them.

    Args:
        squares: the number of squares.
        ahead: for each step the square straight ahead: a square, ``squares`` if there is none, None if it is
            unknown.
        hints: labels of steps, in groups. A group is used if equal labels can mean equal directions.

    Returns None if there are no such directions.
    """
    if any((to, start) not in ahead for start, to in ahead):
        return None
    taken: list[Mapping[Step, Label]] = []
    found: Int32s | None = None
    for labels in ({}, *hints):
        try:
            found = _labelled(squares, ahead, [*taken, labels])
        except _ConflictError:
            continue
        taken.append(labels)
    return found


def _labelled(
    squares: int, ahead: Mapping[Step, int | None], groups: Iterable[Mapping[Step, Label]]
) -> Int32s:
    parts = _Parts(ahead)
    leaving: dict[int, list[int]] = defaultdict(list)
    for start, to in ahead:
        leaving[start].append(to)
        parts.join((start, to), (to, start), 2)
        beyond = ahead[start, to]
        if beyond is not None and beyond < squares:
            if (to, beyond) not in ahead:
                raise _ConflictError
            parts.join((start, to), (to, beyond))
    for labels in groups:
        first: dict[Label, Step] = {}
        for step, label in labels.items():
            if step in ahead:
                parts.join(first.setdefault(label, step), step)
    _join_around(ahead, leaving, parts)
    return _Slots(squares, ahead, parts).filled()


class _Slots:
    """Gives each part a direction such that no two steps leave a square in the same direction, and a square
    has nothing straight ahead where there should be nothing."""

    def __init__(self, squares: int, ahead: Mapping[Step, int | None], parts: _Parts) -> None:
        self._squares, self._ahead = squares, ahead
        self._members: dict[Step, list[tuple[Step, int]]] = {}
        for step in _outwards(ahead):
            top, turn = parts.find(step)
            self._members.setdefault(top, []).append((step, turn))
        self._order = list(self._members)
        self._neighbours: dict[tuple[int, int], int] = {}
        self._shut: Counter[tuple[int, int]] = Counter()

    def filled(self) -> Int32s:
        """Return the neighbours, by backtracking."""
        tried = [0] * len(self._order)
        place, effort = 0, _EFFORT
        while place < len(self._order):
            effort -= 1
            if tried[place] < 4 and effort > 0:
                tried[place] += 1
                if self._put(self._order[place], tried[place] - 1):
                    place += 1
                    if place < len(tried):
                        tried[place] = 0
                continue
            place -= 1
            if place < 0 or effort <= 0:
                raise _ConflictError
            self._take(self._order[place], tried[place] - 1)
        neighbours = np.full((self._squares + 1, 4), self._squares, np.int32)
        for (square, direction), there in self._neighbours.items():
            neighbours[square, direction] = there
        return neighbours

    def _put(self, part: Step, direction: int) -> bool:
        """Give a part this direction. Returns whether it fits."""
        fits = True
        for (start, to), turn in self._members[part]:
            way = (direction + turn) % 4
            if (start, way) in self._neighbours or self._shut[start, way]:
                fits = False
            if self._ahead[start, to] == self._squares:
                self._shut[to, way] += 1
                fits = fits and (to, way) not in self._neighbours
            # Steps that do not fit are added all the same, to be removed with the others.
            self._neighbours.setdefault((start, way), to)
        if not fits:
            self._take(part, direction)
        return fits

    def _take(self, part: Step, direction: int) -> None:
        """Remove a part again."""
        for (start, to), turn in self._members[part]:
            way = (direction + turn) % 4
            if self._ahead[start, to] == self._squares:
                self._shut[to, way] -= 1
            if self._neighbours.get((start, way)) == to:
                del self._neighbours[start, way]


def _outwards(steps: Iterable[Step]) -> list[Step]:
    """Return all steps in an order in which neighbouring steps are close together."""
    leaving: dict[int, list[int]] = defaultdict(list)
    for start, to in steps:
        leaving[start].append(to)
    order: list[Step] = []
    seen: set[int] = set()
    for origin in leaving:
        waiting = deque([origin] if origin not in seen else [])
        seen.add(origin)
        while waiting:
            square = waiting.popleft()
            for there in leaving[square]:
                order.append((square, there))
                if there not in seen:
                    seen.add(there)
                    waiting.append(there)
    return order


def _join_around(ahead: Mapping[Step, int | None], leaving: Mapping[int, list[int]], parts: _Parts) -> None:
    """Join the steps around four squares that share a corner: opposite sides have the same direction."""
    for start, near in leaving.items():
        for one, other in combinations(near, 2):
            if ahead[one, start] == other:
                continue
            for corner in leaving[one]:
                if corner != start and (other, corner) in ahead and ahead[start, one] != corner:
                    parts.join((start, one), (other, corner))
                    parts.join((start, other), (one, corner))


def places_of(neighbours: Int32s, origin: int) -> Int32s:
    """Return row and column of every square on a map that agrees with all neighbours, int32 (squares, 2).

    If there is no such map, all squares are in one row.
    """
    squares = len(neighbours) - 1
    found: dict[int, tuple[int, int]] = {origin: (0, 0)}
    waiting = deque([origin])
    while waiting:
        square = waiting.popleft()
        y, x = found[square]
        for direction, (dy, dx) in enumerate(STEPS):
            there = int(neighbours[square, direction])
            if there != squares and there not in found:
                found[there] = y + dy, x + dx
                waiting.append(there)
    places = np.array([found.get(square, (0, 0)) for square in range(squares)], np.int32)
    fits = len(found) == squares == len(set(found.values())) and all(
        (places[there] - places[square]).tolist() == list(step)
        for square in range(squares)
        for step, there in zip(STEPS, neighbours[square].tolist(), strict=True)
        if there != squares
    )
    if not fits:
        return np.stack([np.zeros(squares, np.int32), np.arange(squares, dtype=np.int32)], axis=1)
    places -= places.min(axis=0) - 1
    return places


def with_hidden(neighbours: Int32s, links: Set[Step], linked: Set[Step]) -> Int32s | None:
    """Return the neighbours with added squares, over which the keeper can walk along all links.

    Args:
        neighbours: int32, shape (squares + 1, 4): the known neighbours.
        links: pairs of squares, both ways, that must be joined by hidden squares.
        linked: all pairs between which he can walk, including ``links``.

    Returns the neighbours, the new squares after the old ones; None if a square has no free side left.
    """
    squares = len(neighbours) - 1
    rows: list[list[int]] = np.where(neighbours[:-1] == squares, -1, neighbours[:-1]).tolist()
    for group in _groups(links, linked):
        doors: tuple[list[int], list[int]] = [], []
        for square in group:
            side = next((d for d in range(4) if rows[square][d] < 0 and rows[square][d ^ 2] < 0), None)
            if side is None:
                return None
            doors[side % 2].append(len(rows))
            rows.append([-1] * 4)
            _connect(rows, square, side, len(rows) - 1)
        # The doors stand in a row: those that lead up or down from left to right, then the others upwards.
        for alike, forth in zip(doors, (1, 0), strict=True):
            for one, other in pairwise(alike):
                _connect(rows, one, forth, other)
        if all(doors):
            rows.append([-1] * 4)
            _connect(rows, doors[0][-1], 1, len(rows) - 1)
            _connect(rows, len(rows) - 1, 0, doors[1][0])
    found = np.array([*rows, [-1] * 4], np.int32)
    return np.where(found < 0, len(rows), found).astype(np.int32)


def _connect(rows: list[list[int]], one: int, direction: int, other: int) -> None:
    rows[one][direction], rows[other][direction ^ 2] = other, one


def _groups(links: Set[Step], linked: Set[Step]) -> list[list[int]]:
    """Return sets of squares, all linked to each other, that contain all the links."""
    groups: list[list[int]] = []
    for step in sorted(links):
        if not any(group.issuperset(step) for group in map(set, groups)):
            group = list(step)
            for member in group:  # the list grows
                for more in sorted(to for start, to in links if start == member):
                    if more not in group and all((more, each) in linked for each in group):
                        group.append(more)
            groups.append(group)
    return groups

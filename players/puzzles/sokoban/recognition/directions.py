"""Directions for the steps between squares that have none: up, right, down and left by consistency.

What is known: which squares are next to each other, what is straight ahead (a box pushed from the first onto
the second square goes there), and hints, by which two steps may have one direction. Steps of one direction,
and their opposites, are put together by union-find; what crosses at a square gets the other axis.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations

import numpy as np

from players.puzzles.sokoban.geometry import STEPS
from propnet.jit.arrays import Int32s

Step = tuple[int, int]
"""From a square to one next to it."""

Label = Hashable


class _ConflictError(Exception):
    """Two steps would have to be of one direction and of different ones."""


class _Parts:
    """Steps whose directions are known relative to each other: the same (0) or opposite (2)."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._above = {step: (step, 0) for step in steps}

    def find(self, step: Step) -> tuple[Step, int]:
        """The step that stands for its part, and by how much this one is turned against it."""
        above, turn = self._above[step]
        if above == step:
            return step, 0
        top, more = self.find(above)
        self._above[step] = top, (turn + more) % 4
        return self._above[step]

    def join(self, one: Step, other: Step, turn: int = 0) -> None:
        """Have the other step's direction be the first one's and so many quarter turns."""
        (a, x), (b, y) = self.find(one), self.find(other)
        if a == b:
            if (y - x - turn) % 4:
                raise _ConflictError
        else:
            self._above[b] = a, (x + turn - y) % 4


def neighbours_of(
    squares: int, ahead: Mapping[Step, int | None], hints: Iterable[Mapping[Step, Label]]
) -> Int32s | None:
    """The neighbours of every square, as :class:`~players.puzzles.sokoban.geometry.Geometry` has them.

    Args:
        squares: how many there are.
        ahead: for each step where it leads on to straight ahead: a square, ``squares`` where nothing is, None
            where that is not known.
        hints: labels of steps, in groups. A group counts if equal labels can mean equal directions.

    Returns None where there are no such directions.
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
    axes = _axes(leaving, parts)
    neighbours = np.full((squares + 1, 4), squares, np.int32)
    for start, to in ahead:
        top, turn = parts.find((start, to))
        direction = (axes[top] + turn) % 4
        if neighbours[start, direction] != squares:
            raise _ConflictError
        neighbours[start, direction] = to
    for (start, to), beyond in ahead.items():
        top, turn = parts.find((start, to))
        if beyond is not None and neighbours[to, (axes[top] + turn) % 4] != beyond:
            raise _ConflictError
    return neighbours


def _join_around(ahead: Mapping[Step, int | None], leaving: Mapping[int, list[int]], parts: _Parts) -> None:
    """Four squares around a point: opposite sides have one direction."""
    for start, near in leaving.items():
        for one, other in combinations(near, 2):
            if ahead[one, start] == other:
                continue
            for corner in leaving[one]:
                if corner != start and (other, corner) in ahead and ahead[start, one] != corner:
                    parts.join((start, one), (other, corner))
                    parts.join((start, other), (one, corner))


def _axes(leaving: Mapping[int, list[int]], parts: _Parts) -> dict[Step, int]:
    """A direction for each part, such that two parts that leave a square cross."""
    crossing: dict[Step, set[Step]] = defaultdict(set)
    for start, near in leaving.items():
        tops = {parts.find((start, to))[0] for to in near}
        for top in tops:
            crossing[top] |= tops - {top}
    axes: dict[Step, int] = {}
    for origin in crossing:
        if origin in axes:
            continue
        axes[origin] = 0
        waiting = deque([origin])
        while waiting:
            top = waiting.popleft()
            for other in crossing[top]:
                if other not in axes:
                    axes[other] = 1 - axes[top]
                    waiting.append(other)
                elif axes[other] == axes[top]:
                    raise _ConflictError
    return axes


def places_of(neighbours: Int32s, origin: int) -> Int32s:
    """Row and column of every square on a map that agrees with all neighbours, int32 (squares, 2); where there
    is none all squares stand in a row."""
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

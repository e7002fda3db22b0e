"""The outcomes of a game, numbered, which of them each role likes better, and what came of a whole game."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdl.errors import TooLargeError
from players.strong.choice_kernels import UNKNOWN
from propnet.jit.arrays import Goals, Int32s, Octets
from propnet.machine import PropnetMachine

MOST = 250
"""Different outcomes that a game may have."""

HALF = 50
"""A role that gets more goes for the end by the shortest way, one that gets as much or less by the longest.
Alone in a game it always goes by the shortest."""


class Outcomes:
    """Vectors of goals, one value for each role, in the order in which they were met.

    Of two outcomes a role likes the one better that has the higher goal for itself, then the one with the
    lower goals for the others, taken together, then the one whose goals are the lower in the order of roles.

    Attributes:
        vectors: tuples of goals 0..100; -1 where a role has none.
        ranks: int32, shape (roles, vectors): each role's order, 0 the worst.
        longer: int32, shape (roles, vectors): 1 where a role prefers a long way to the outcome, -1 a short.
    """

    def __init__(self, roles: int, vectors: list[tuple[int, ...]] | None = None) -> None:
        self.roles = roles
        self.vectors: list[tuple[int, ...]] = []
        self.ranks: Int32s = np.zeros((roles, 0), np.int32)
        self.longer: Int32s = np.zeros((roles, 0), np.int32)
        self._lock = threading.Lock()
        self._add(vectors or [])

    def number(self, goals: Goals) -> Octets:
        """The numbers, uint8 (n,), of outcomes given by their goals (n, roles). Any thread may ask."""
        numbers = np.zeros(len(goals), np.uint8)
        left = np.arange(len(goals))
        v = 0
        while len(left):
            with self._lock:
                if v == len(self.vectors):
                    self._add([tuple(goals[left[0]].tolist())])
            same = (goals[left] == np.array(self.vectors[v], np.int16)).all(axis=1)
            numbers[left[same]] = v
            left = left[~same]
            v += 1
        return numbers

    def endless(self) -> int:
        """The number of the outcome of play that never ends, of which GDL says nothing: 50 for each of
        several roles, as for a draw, and 0 for one that is alone."""
        goals = np.full((1, self.roles), 0 if self.roles == 1 else HALF, np.int16)
        return int(self.number(goals)[0])

    def _add(self, vectors: list[tuple[int, ...]]) -> None:
        self.vectors += vectors
        if len(self.vectors) > MOST:
            raise TooLargeError(f"the game has more than {MOST} outcomes", remedy="they do not fit in a byte")
        order = range(len(self.vectors))
        ranks = np.zeros((self.roles, len(order)), np.int32)
        longer = np.ones((self.roles, len(order)), np.int32)
        for role in range(self.roles):
            liked = sorted(order, key=lambda v: self._liking(role, v))
            ranks[role, liked] = order
            for v in order:
                if self.roles == 1 or self.vectors[v][role] > HALF:
                    longer[role, v] = -1
        self.ranks, self.longer = ranks, longer

    def _liking(self, role: int, v: int) -> tuple[int, int, tuple[int, ...]]:
        goals = self.vectors[v]
        return goals[role], goals[role] - sum(goals), tuple(-goal for goal in goals)

    def opposed(self) -> bool:
        """Whether there are two roles, and what one likes better the other likes less; or one role alone."""
        if self.roles == 2:
            return bool((self.ranks[0] + self.ranks[1] == len(self.vectors) - 1).all())
        return self.roles == 1


@dataclass(frozen=True, slots=True)
class SolvedGame:
    """What was found of a game all of whose states have values.

    Attributes:
        machine: of the game.
        outcomes: what the values' numbers mean.
        sizes: how many states each layer has: what is first reached after 0, 1, ... joint moves, or has the
            rank 0, 1, ...
        cyclic: whether play may come back to a state.
        start: the goals of each role under best play from the start.
        distance: joint moves to the end from there; None where play need not end.
        symmetries: how many automorphisms one state of each orbit stands for.
        codec: how states become words (:class:`players.strong.ranked.rank.StateCodec`), for the table; None
            where its records are the machine's.
    """

    machine: PropnetMachine
    outcomes: Outcomes
    sizes: list[int]
    cyclic: bool
    start: tuple[int, ...]
    distance: int | None
    symmetries: int = 1
    codec: dict[str, Any] | None = None

    @property
    def states(self) -> int:
        """How many there are."""
        return sum(self.sizes)


def known_distance(distance: int) -> int | None:
    """A distance as it stands in a layer, None where play need not end."""
    return None if distance == UNKNOWN else distance

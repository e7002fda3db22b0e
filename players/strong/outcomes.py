"""The outcomes of a game, numbered, with each role's order of preference; and the results of a solved
game."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from gdl.errors import TooLargeError
from players.strong.choice_kernels import UNKNOWN
from players.strong.images import OrbitImages
from propnet.jit.arrays import Goals, Int32s, Octets
from propnet.machine import PropnetMachine

MOST = 250
"""Most different outcomes of a game."""

HALF = 50
"""A role that gets more prefers the shortest way to the end, one that gets as much or less the longest. A
role that plays alone always prefers the shortest."""


class Outcomes:
    """Vectors of goals, one value for each role, in the order in which they were found.

    A role prefers the outcome with the higher goal for itself; then the one with the lower sum of the others'
    goals; then the one whose goals are lower in the order of roles.

    Attributes:
        vectors: tuples of goals 0..100; -1 if a role has none.
        ranks: int32, shape (roles, vectors): each role's order, 0 the worst.
        longer: int32, shape (roles, vectors): 1 if a role prefers a long way to the outcome, -1 a short one.
    """

    def __init__(self, roles: int, vectors: list[tuple[int, ...]] | None = None) -> None:
        self.roles = roles
        self.vectors: list[tuple[int, ...]] = []
        self.ranks: Int32s = np.zeros((roles, 0), np.int32)
        self.longer: Int32s = np.zeros((roles, 0), np.int32)
        self._lock = threading.Lock()
        self._add(vectors or [])

    def number(self, goals: Goals) -> Octets:
        """The numbers, uint8 (n,), of outcomes given by their goals (n, roles). Thread-safe."""
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
        """The number of the outcome of play that never ends, which GDL does not define: 50 for each of
        several roles, as for a draw, and 0 for a single role."""
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
        """Whether there is one role, or two of which one likes better whatever the other likes less."""
        if self.roles == 2:
            return bool((self.ranks[0] + self.ranks[1] == len(self.vectors) - 1).all())
        return self.roles == 1


@dataclass(frozen=True, slots=True)
class SolvedGame:
    """The results of a game all of whose states have values.

    Attributes:
        machine: of the game.
        outcomes: the outcomes, by the numbers in values.
        sizes: number of states in each layer: those first reached after 0, 1, ... joint moves.
        cyclic: whether play may return to a state.
        start: the goals of each role under best play from the start.
        distance: joint moves to the end from there; None if play need not end.
        symmetries: number of automorphisms that were merged, each orbit into one state.
        images: the orbits of states, for the table; None if each state represents itself.
    """

    machine: PropnetMachine
    outcomes: Outcomes
    sizes: list[int]
    cyclic: bool
    start: tuple[int, ...]
    distance: int | None
    symmetries: int = 1
    images: OrbitImages | None = None

    @property
    def states(self) -> int:
        """Number of states."""
        return sum(self.sizes)


def known_distance(distance: int) -> int | None:
    """A distance from a layer; None if play need not end."""
    return None if distance == UNKNOWN else distance

"""The outcomes of a game, numbered, with each role's order of preference; the images of a state under
automorphisms, of which a table has one; and the results of a solved game.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError, TooLargeError
from gdl.json_schema import record, rows
from players.puzzles.frontier.key_space import BASES
from players.strong.choice_kernels import UNKNOWN
from propnet.jit.arrays import Flags, Goals, Int32s, Ints, Octets, Words
from propnet.machine import PropnetMachine
from propnet.symmetries.canonical import Orbits

IMAGES_SCHEMA = record(initial=BASES, sources=rows(BASES), order=BASES, unobserved=BASES)


@dataclass(frozen=True, slots=True)
class OrbitImages:
    """The images of a state under the automorphisms of a game; a table has the smallest one
    (:class:`propnet.symmetries.canonical.Orbits`).

    Attributes:
        initial: bool (bases,): the initial state.
        sources: for each automorphism except the identity, the base proposition from which each gets its
            value.
        order: base propositions by which images are compared, the most significant first.
        unobserved: base propositions that do not count: they have their initial value.
    """

    initial: Flags
    sources: Ints
    order: Ints
    unobserved: Ints

    @classmethod
    def of(cls, orbits: Orbits) -> OrbitImages:
        """Those of the states of these orbits."""
        return cls(orbits.network.initial, orbits.sources, orbits.order, orbits.unobserved)

    def smallest(self, true: Sequence[int]) -> list[int]:
        """The base propositions that are true in the smallest image of the state in which these are."""
        bits = np.zeros(len(self.initial), np.bool_)
        bits[true] = True
        bits[self.unobserved] = self.initial[self.unobserved]
        least = min([bits, *bits[self.sources]], key=lambda image: image[self.order].tobytes())
        found: list[int] = np.flatnonzero(least).tolist()
        return found

    def as_json(self) -> dict[str, Any]:
        """JSON for a manifest."""
        return {
            "initial": np.flatnonzero(self.initial).tolist(),
            "sources": self.sources.tolist(),
            "order": self.order.tolist(),
            "unobserved": self.unobserved.tolist(),
        }

    @classmethod
    def from_json(cls, body: dict[str, Any], bases: int) -> OrbitImages:
        """The reverse, for a game with this number of base propositions. Raises GdlError."""
        named = chain(body["initial"], body["order"], body["unobserved"], *body["sources"])
        if any(base >= bases for base in named):
            raise GdlError("an automorphism is of more base propositions than there are")
        if any(len(source) != bases for source in body["sources"]):
            raise GdlError("an automorphism is not of all base propositions")
        initial = np.zeros(bases, np.bool_)
        initial[body["initial"]] = True
        sources = np.array(body["sources"], np.int64).reshape(-1, bases)
        order, unobserved = (np.array(body[name], np.int64) for name in ("order", "unobserved"))
        return cls(initial, sources, order, unobserved)


Distances = NDArray[np.uint16]

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
class ValuedSet:
    """A set of states with their values.

    Attributes:
        rows: set (n, words) of records.
        values: uint8 (n,): numbers of outcomes.
        distances: uint16 (n,): joint moves to the end under best play; UNKNOWN if it never ends.
    """

    rows: Words
    values: Octets
    distances: Distances


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

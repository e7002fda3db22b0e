"""What searches know about the moves of their root: read from the tree, merged, and turned into a choice.

Root parallelization: Cazenave and Jouandeau 2007, Chaslot, Winands and van den Herik 2008. Moves stand in
the order of their text, which is the same in every process and on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine, State
from gdl.terms import sort_key
from players.uct.tree.regret_matching import random_choices
from players.uct.tree.tree import Tree

_RARE = 0.02
"""A mixed strategy leaves out moves with less than this share of the visits of the most visited one."""


@dataclass(frozen=True, slots=True)
class RootStatistics:
    """Visits and results of each role's moves in one state. M moves of all roles, role by role.

    Attributes:
        counts: how many moves each role has.
        visits: int64, shape (M,): how often each was taken.
        totals: float64, shape (M,): the sum of the role's own results, 0..1 each.
        proven: int16, shape (M,): the role's own result after this move where it is proven, else -1.
        playouts: playouts of this turn.
        nodes: states in the tree.
        depth: length of the longest path.
        value: the proven result of the role that searches; -1 while unknown.
        mixed: whether the visits are a mixed strategy, by which a move is drawn.
    """

    counts: tuple[int, ...]
    visits: NDArray[np.int64]
    totals: NDArray[np.float64]
    proven: NDArray[np.int16]
    playouts: int = 0
    nodes: int = 0
    depth: int = 0
    value: int = -1
    mixed: bool = False

    @classmethod
    def empty(cls, counts: Sequence[int]) -> RootStatistics:
        """Nothing is known yet."""
        moves = sum(counts)
        return cls(tuple(counts), np.zeros(moves, np.int64), np.zeros(moves), np.full(moves, -1, np.int16))

    def of_role(self, role: int) -> slice:
        """Where a role's moves stand."""
        first = sum(self.counts[:role])
        return slice(first, first + self.counts[role])


def merge(counts: Sequence[int], parts: Iterable[RootStatistics]) -> RootStatistics:
    """Add up what several searches of the same state know: means are weighted by visits, and what
    one has proven is proven. Parts that are not about these moves are left out."""
    merged = RootStatistics.empty(counts)
    fitting = [part for part in parts if part.counts == merged.counts]
    for part in fitting:
        merged.visits[:] += part.visits
        merged.totals[:] += part.totals
        np.maximum(merged.proven, part.proven, out=merged.proven)
    return replace(
        merged,
        playouts=sum(part.playouts for part in fitting),
        nodes=sum(part.nodes for part in fitting),
        depth=max((part.depth for part in fitting), default=0),
        value=max((part.value for part in fitting), default=-1),
        mixed=any(part.mixed for part in fitting),
    )


@dataclass(frozen=True, slots=True)
class Ranking:
    """A role's moves by what is known of them.

    Attributes:
        best: the place of the move to make.
        order: places of all moves, the best first and then the most visited.
        visits: as in the statistics.
        values: mean result of each move, or the proven one, 0..100; 0 where it is not known.
        known: whether each move was visited, or its result is proven.
        worth: what the role may expect, 0..100: the value of the best move, or where moves are mixed the
            mean of their values by :func:`strategy`, so that what was tried at random does not count.
    """

    best: int
    order: list[int]
    visits: list[int]
    values: list[float]
    known: list[bool]
    worth: float


def rank(statistics: RootStatistics, role: int) -> Ranking:
    """Rank the moves of a role, which must have one: the best of the proven moves against the most
    visited of the others."""
    own = statistics.of_role(role)
    visits: list[int] = statistics.visits[own].tolist()
    proven: list[int] = statistics.proven[own].tolist()
    values = [
        float(value) if value >= 0 else 100 * total / n if n else 0.0
        for n, total, value in zip(visits, statistics.totals[own].tolist(), proven, strict=True)
    ]
    places = range(len(visits))
    sure = max(places, key=lambda i: (proven[i], visits[i]))
    hoped = max((i for i in places if proven[i] < 0), key=lambda i: (visits[i], values[i]), default=sure)
    best = sure if statistics.value >= 0 or proven[sure] >= values[hoped] else hoped
    order = sorted(places, key=lambda i: (i == best, visits[i]), reverse=True)
    worth = float(strategy(statistics, role) @ np.array(values)) if statistics.mixed else values[best]
    known = [bool(n) or value >= 0 for n, value in zip(visits, proven, strict=True)]
    return Ranking(best, order, visits, values, known, worth)


def strategy(statistics: RootStatistics, role: int) -> NDArray[np.float64]:
    """The mixed strategy in a role's visits: probabilities, shape (its moves,). Visits at random do not
    count, nor those so rare that they may come from the search's beginning."""
    visits = statistics.visits[statistics.of_role(role)].astype(np.float64)
    shares = visits - random_choices(float(visits.sum())) / len(visits)
    shares[shares < _RARE * shares.max()] = 0.0
    total = shares.sum()
    return shares / total if total > 0 else np.full(len(visits), 1 / len(visits))


class RootMoves:
    """The moves of all roles at the root, role by role, each role's in the order of their text.

    Attributes:
        counts: how many moves each role has.
        places: int64, shape (moves,): where each move's edge is, counted from the root's first; -1 for
            those that were left out. Edges keep their order when the tree is moved to the front.
    """

    def __init__(self, tree: Tree, machine: Machine, state: State) -> None:
        first = int(tree.arrays.nodes["first_edge"][tree.root])
        places: list[int] = []
        counts: list[int] = []
        numbers: list[int] = []
        for role in range(len(machine.roles)):
            edges = tree.edges(tree.root, role)
            listed: list[int] = tree.arrays.edges["move"][edges].tolist()
            place = {move: i for i, move in enumerate(listed, edges.start - first)}
            legal = machine.legal_moves(state, role)
            moves = sorted(legal, key=lambda move: sort_key(machine.move(role, move)))
            places += (place.get(move, -1) for move in moves)
            counts.append(len(moves))
            numbers += moves
        self._numbers = np.array(numbers, np.int64)
        self.places: NDArray[np.int64] = np.array(places, np.int64)
        self.counts = tuple(counts)
        self._whole = bool((self.places >= 0).all())

    def edge(self, role: int, place: int) -> int:
        """Where the edge of a role's move is, counted from the root's first; -1 if it was left out."""
        return int(self.places[sum(self.counts[:role]) + place])

    def numbered(self, role: int, move: int) -> int:
        """The place of a role's move among the moves of all roles, by its number."""
        low = sum(self.counts[:role])
        return low + int(np.flatnonzero(self._numbers[low : low + self.counts[role]] == move)[0])

    def statistics(self, tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int16]]:
        """Visits, total and proven result of each move: see :mod:`players.uct.root_statistics`."""
        first = int(tree.arrays.nodes["first_edge"][tree.root])
        edges = tree.arrays.edges[first + np.maximum(self.places, 0)]
        visits, totals = edges["visits"].astype(np.int64), edges["total"].astype(np.float64)
        proven = edges["proven"].copy()
        # The tree holds what role 0 gets.
        second = proven[self.counts[0] :]
        second[second >= 0] = 100 - second[second >= 0]
        if self._whole:
            return visits, totals, proven
        low = 0
        for role, count in enumerate(self.counts):
            own = slice(low, low + count)
            listed = self.places[own] >= 0
            if listed.sum() == 1 < count:
                # The tree saw no choice here, and booked the visits for role 0.
                only = tree.arrays.edges[first]
                visits[own] = max(1, int(only["visits"]))
                totals[own] = only["total"] if role == 0 else only["visits"] - only["total"]
                proven[own] = 100 - tree.proven if role and tree.proven >= 0 else tree.proven
            proven[own][~listed] = 0
            visits[own][~listed] = 0
            totals[own][~listed] = 0.0
            low += count
        return visits, totals, proven

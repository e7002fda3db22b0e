"""Statistics of a root's moves: read from the tree, merged, and turned into a choice.

Root parallelization: Cazenave and Jouandeau 2007, Chaslot, Winands and van den Herik 2008. Moves are in the
order of their text, which is the same in every process and on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine, State
from players.uct.tree.regret_matching import random_choices
from players.uct.tree.tree import Tree

_RARE = 0.02
"""A mixed strategy leaves out moves with less than this share of the visits of the most visited one."""


@dataclass(frozen=True, slots=True)
class RootStatistics:
    """Visits and results of each role's moves in one state. M moves of all roles, role by role.

    Attributes:
        counts: number of moves of each role.
        visits: int64, shape (M,): visits of each move.
        totals: float64, shape (M,): the sum of the role's own results, 0..1 each.
        proven: int16, shape (M,): the role's own proven result after this move, -1 if it is not proven.
        playouts: playouts of this turn.
        nodes: states in the tree.
        depth: length of the longest path.
        value: the proven result of the role that searches; -1 while unknown.
        mixed: whether the visits are a mixed strategy, from which the move is drawn.
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
        """Statistics without any visits."""
        moves = sum(counts)
        return cls(tuple(counts), np.zeros(moves, np.int64), np.zeros(moves), np.full(moves, -1, np.int16))

    def of_role(self, role: int) -> slice:
        """The slice of a role's moves."""
        first = sum(self.counts[:role])
        return slice(first, first + self.counts[role])


def merge(counts: Sequence[int], parts: Iterable[RootStatistics]) -> RootStatistics:
    """The sums of several searches' statistics of the same state. Means are weighted by visits; a result that
    one search has proven is proven. Parts with other moves are left out."""
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
    """A role's moves, ranked by their statistics.

    Attributes:
        best: the place of the move to make.
        order: places of all moves, the best first and then the most visited.
        visits: as in the statistics.
        values: mean or proven result of each move, 0..100; 0 if it is unknown.
        is_known: whether each move was visited, or its result is proven.
        worth: the role's expected result, 0..100: the value of the best move; if moves are mixed the mean of
            their values by :func:`strategy`, so that random trials do not count.
    """

    best: int
    order: list[int]
    visits: list[int]
    values: list[float]
    is_known: list[bool]
    worth: float


def rank(statistics: RootStatistics, role: int) -> Ranking:
    """Rank the moves of a role, which must have at least one. The best of the proven moves competes with the
    most visited of the others."""
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
    is_known = [bool(n) or value >= 0 for n, value in zip(visits, proven, strict=True)]
    return Ranking(best, order, visits, values, is_known, worth)


def strategy(statistics: RootStatistics, role: int) -> NDArray[np.float64]:
    """The mixed strategy in a role's visits: probabilities, shape (its moves,). Random visits do not count,
    nor visits so rare that they may come from the search's beginning."""
    visits = statistics.visits[statistics.of_role(role)].astype(np.float64)
    shares = visits - random_choices(float(visits.sum())) / len(visits)
    shares[shares < _RARE * shares.max()] = 0.0
    total = shares.sum()
    return shares / total if total > 0 else np.full(len(visits), 1 / len(visits))


class RootMoves:
    """The moves of all roles at the root, role by role, each role's in the order of their text.

    Attributes:
        counts: number of moves of each role.
        places: int64, shape (moves,): the place of each move's edge, counted from the root's first; -1 for
            moves that were left out. Edges keep their order when the tree is moved to the front.
    """

    def __init__(self, tree: Tree, machine: Machine, state: State) -> None:
        first = int(tree.arrays.nodes["first_edge"][tree.root])
        places: list[int] = []
        counts: list[int] = []
        for role in range(len(machine.roles)):
            edges = tree.edges(tree.root, role)
            listed: list[int] = tree.arrays.edges["move"][edges].tolist()
            place = {move: i for i, move in enumerate(listed, edges.start - first)}
            moves = machine.in_order(role, machine.legal_moves(state, role))
            places += (place.get(move, -1) for move in moves)
            counts.append(len(moves))
        self.places: NDArray[np.int64] = np.array(places, np.int64)
        self.counts = tuple(counts)
        self._whole = bool((self.places >= 0).all())

    def edge(self, role: int, place: int) -> int:
        """The place of the edge of a role's move, counted from the root's first; -1 if it was left out."""
        return int(self.places[sum(self.counts[:role]) + place])

    def statistics(self, tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int16]]:
        """Visits, total and proven result of each move: see :mod:`players.uct.root_statistics`."""
        first = int(tree.arrays.nodes["first_edge"][tree.root])
        edges = tree.arrays.edges[first + np.maximum(self.places, 0)]
        visits = edges["visits"].astype(np.int64)
        totals = np.minimum(edges["total"], visits * (edges["limit"] / 100.0))
        proven = edges["proven"].astype(np.int16)
        # The tree holds role 0's results.
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

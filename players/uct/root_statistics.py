"""What searches know about the moves of their root: merged, and turned into a choice.

Root parallelization: Cazenave and Jouandeau 2007, Chaslot, Winands and van den Herik 2008. Moves stand in
the order of their text, which is the same in every process and on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.regret_matching import random_choices

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

"""Options that are never chosen, found by trying each, on a budget.

As A. Röver's BurrTools reduces its matrix before it assembles: an option is tried, and if then some item has
too few options left, it belongs to no solution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.reduction.probing_kernels import NEVER, probe

_SAMPLE = 16
"""Every so-manieth option is tried first; if all of these may be chosen, the others are not tried."""
_CHEAP = 2_000_000
"""Nodes to look at for which no sample is taken: a few milliseconds."""
_MOST = 30_000_000


class Probing:
    """Tries the options of problems, one smaller than the other, within one budget of work.

    Attributes:
        tried: how often it went over the options of a problem.
        work: nodes that were looked at.
    """

    def __init__(self) -> None:
        self.tried = self.work = 0
        self._drops = False

    def never(self, problem: CoverProblem) -> NDArray[np.int32]:
        """Options that no solution has, int32; perhaps not all of them."""
        options = problem.options
        if self._drops or self.work > _MOST or not options:
            return np.zeros(0, np.int32)
        self.tried += 1
        owner = np.repeat(np.arange(options, dtype=np.int32), np.diff(problem.starts))
        by_item = np.argsort(problem.nodes, kind="stable").astype(np.int32)
        item_starts = np.zeros(problem.items + 1, np.int32)
        np.cumsum(np.bincount(problem.nodes, minlength=problem.items), out=item_starts[1:])
        mark = np.zeros(options, np.int32)
        left = np.bincount(problem.nodes, problem.weights, problem.items).astype(np.int64)
        lost = np.zeros(problem.items, np.int64)
        touched = np.zeros(problem.items, np.int32)
        work = np.zeros(1, np.int64)

        def over(begin: int, stride: int) -> int:
            found: int = probe(
                problem.starts,
                problem.nodes,
                problem.weights,
                problem.colours,
                item_starts,
                by_item,
                owner,
                problem.minimum,
                problem.maximum,
                problem.may_be_hole,
                problem.coloured(),
                -1 if problem.holes is None else problem.holes,
                begin,
                stride,
                _MOST - self.work,
                mark,
                left,
                lost,
                touched,
                work,
            )
            return found

        found = over(0, _SAMPLE)
        if not found and work[0] * _SAMPLE > _CHEAP:
            self._drops = True
        else:
            for begin in range(1, _SAMPLE):
                found += over(begin, _SAMPLE)
        self.work += int(work[0])
        return np.flatnonzero(mark == NEVER).astype(np.int32)

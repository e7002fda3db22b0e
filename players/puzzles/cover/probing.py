"""Options that are never chosen, found by trying each, on a budget.

As A. Röver's BurrTools reduces its matrix before it assembles: an option is tried, and if then some item has
too few options left, it belongs to no solution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem
from propnet.jit.decorators import ARENA, kernel

NEVER = -1
"""The mark of an option that is never chosen."""


@kernel(**ARENA)
def probe(
    starts: NDArray[np.int32],
    nodes: NDArray[np.int32],
    weights: NDArray[np.int32],
    colours: NDArray[np.int32],
    item_starts: NDArray[np.int32],
    by_item: NDArray[np.int32],
    owner: NDArray[np.int32],
    minimum: NDArray[np.int32],
    maximum: NDArray[np.int32],
    may_be_hole: NDArray[np.bool_],
    coloured: NDArray[np.bool_],
    holes: int,
    begin: int,
    stride: int,
    most_work: int,
    mark: NDArray[np.int32],
    left: NDArray[np.int64],
    lost: NDArray[np.int64],
    touched: NDArray[np.int32],
    work: NDArray[np.int64],
) -> int:
    """Try every `stride`-th option from `begin` on. Returns how many are never chosen.

    Args:
        holes: the most there may be; -1 for any number.
        most_work: stop after so many nodes.
        mark: int32[options], NEVER for those that are never chosen, which is written; else at most `begin`.
        left: int64[items], what the options that are not marked NEVER weigh together; it is kept so.
        lost: int64[items], all 0 before and after.
        touched: int32[items], for its own use.
        work: int64[1], the nodes that were looked at are added.
    """
    found, looked = 0, 0
    for option in range(begin, starts.shape[0] - 1, stride):
        if mark[option] == NEVER:
            continue
        if looked > most_work:
            break
        stamp = option + 1
        mark[option] = stamp
        changed, empty, fits = 0, 0, True
        for node in range(starts[option], starts[option + 1]):
            item = nodes[node]
            room = maximum[item] - weights[node]
            looked += item_starts[item + 1] - item_starts[item]
            if not coloured[item] and room < 0:
                fits = False
            for k in range(item_starts[item], item_starts[item + 1]):
                if not fits:
                    break
                other = by_item[k]
                rival = owner[other]
                if mark[rival] == NEVER or mark[rival] == stamp:
                    continue
                if coloured[item]:
                    if colours[node] > 0 and colours[node] == colours[other]:
                        continue
                elif weights[other] <= room:
                    continue
                mark[rival] = stamp
                looked += starts[rival + 1] - starts[rival]
                for inside in range(starts[rival], starts[rival + 1]):
                    hit = nodes[inside]
                    if lost[hit] == 0:
                        touched[changed] = hit
                        changed += 1
                    lost[hit] += weights[inside]
                    rest = left[hit] - lost[hit]
                    if rest < minimum[hit]:
                        fits = False
                    if rest == 0 and may_be_hole[hit]:
                        empty += 1
        if holes >= 0 and empty > holes:
            fits = False
        for k in range(changed):
            lost[touched[k]] = 0
        if not fits:
            found += 1
            mark[option] = NEVER
            for node in range(starts[option], starts[option + 1]):
                left[nodes[node]] -= weights[node]
    work[0] += looked
    return found


_SAMPLE = 16
"""Every so-manieth option is tried first; if all of these may be chosen, the others are not tried."""
_CHEAP = 2_000_000
"""Nodes to look at for which no sample is taken: a few milliseconds."""
_MOST = 30_000_000


class Probing:
    """Tries the options of problems, one smaller than the other, within one budget of work.

    Attributes:
        work: nodes that were looked at.
    """

    def __init__(self) -> None:
        self.work = 0
        self._drops = False

    def never(self, problem: CoverProblem) -> NDArray[np.int32]:
        """Options that no solution has, int32; perhaps not all of them."""
        options = problem.options
        if self._drops or self.work > _MOST or not options:
            return np.zeros(0, np.int32)
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

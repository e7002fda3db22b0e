"""Find options that all solutions have, and options that no solution has, by trying options on a budget.

As A. Röver's BurrTools reduces its matrix before it assembles: an option is tried, and if some item then has
too few options left, the option belongs to no solution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem
from propnet.jit.decorators import ARENA, inner, kernel

NEVER, CHOSEN = -1, -2
"""The marks of an option that is never chosen, and of one that all solutions have."""
_CONTRADICTION = -1
"""There is no solution."""

Ints = NDArray[np.int32]


@inner
def drop(
    option: int,
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    left: NDArray[np.int64],
    mark: Ints,
    waiting: Ints,
    waits: NDArray[np.bool_],
    ends: NDArray[np.int64],
) -> None:
    """Mark an option with NEVER and queue its items."""
    mark[option] = NEVER
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        left[item] -= weights[node]
        if not waits[item]:
            waits[item] = True
            waiting[ends[1] % waiting.shape[0]] = item
            ends[1] += 1


@kernel(**ARENA)
def force(
    starts: Ints,
    nodes: Ints,
    weights: Ints,
    colours: Ints,
    item_starts: Ints,
    by_item: Ints,
    owner: Ints,
    minimum: Ints,
    maximum: Ints,
    heaviest: Ints,
    may_be_hole: NDArray[np.bool_],
    coloured: NDArray[np.bool_],
    shade: Ints,
    mark: Ints,
    left: NDArray[np.int64],
    waiting: Ints,
    waits: NDArray[np.bool_],
    ends: NDArray[np.int64],
) -> int:
    """Choose all options without which an item does not reach its minimum, and drop the options that collide
    with them, until no more are found. Returns the number of options chosen, or CONTRADICTION.

    Args:
        minimum, maximum: the bounds of the rest that is still to be chosen; updated in place.
        heaviest: int32[items], at least the largest weight in each.
        may_be_hole: bool[items], for items that no chosen option covers; updated in place.
        shade: int32[items], the colour of the chosen options, 0 closed to all, -1 none yet; updated in place.
        mark: int32[options], NEVER, CHOSEN or another value; updated in place.
        left: int64[items], the total weight of the options with neither mark; updated in place.
        waiting, waits: int32[items], bool[items]: a ring buffer of queued items, and whether each is in it.
        ends: int64[2]: the first place of the ring buffer, and the place after its last.
    """
    found = 0
    while ends[0] < ends[1]:
        item = waiting[ends[0] % waiting.shape[0]]
        ends[0] += 1
        waits[item] = False
        if minimum[item] <= 0 or left[item] - heaviest[item] >= minimum[item]:
            continue
        if left[item] < minimum[item]:
            return _CONTRADICTION
        for k in range(item_starts[item], item_starts[item + 1]):
            option = owner[by_item[k]]
            if mark[option] == NEVER or mark[option] == CHOSEN:
                continue
            if left[item] - weights[by_item[k]] >= minimum[item]:
                continue
            mark[option] = CHOSEN
            found += 1
            for node in range(starts[option], starts[option + 1]):
                hit = nodes[node]
                left[hit] -= weights[node]
                minimum[hit] -= weights[node]
                may_be_hole[hit] = False
                if coloured[hit]:
                    if shade[hit] >= 0 and (shade[hit] != colours[node] or colours[node] == 0):
                        return _CONTRADICTION
                    shade[hit] = colours[node]
                else:
                    maximum[hit] -= weights[node]
                    if maximum[hit] < 0:
                        return _CONTRADICTION
                for place in range(item_starts[hit], item_starts[hit + 1]):
                    other = by_item[place]
                    rival = owner[other]
                    if mark[rival] == NEVER or mark[rival] == CHOSEN:
                        continue
                    if coloured[hit]:
                        if shade[hit] > 0 and colours[other] == shade[hit]:
                            continue
                    elif weights[other] <= maximum[hit]:
                        continue
                    drop(rival, starts, nodes, weights, left, mark, waiting, waits, ends)
    return found


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
    """Try every `stride`-th option from `begin` on. Returns the number of options that are never chosen.

    Args:
        holes: the most holes; -1 for any number.
        most_work: the number of nodes after which it stops.
        mark: int32[options], receives NEVER for options that are never chosen; CHOSEN for options that are no
            longer examined; otherwise at most 0.
        left: int64[items], the total weight of the options with neither mark; updated in place.
        lost: int64[items], all 0 before and after.
        touched: int32[items], scratch space.
        work: int64[1], receives the number of nodes examined, added to its value.
    """
    found, looked = 0, 0
    for option in range(begin, starts.shape[0] - 1, stride):
        if mark[option] == NEVER or mark[option] == CHOSEN:
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
                if mark[rival] == NEVER or mark[rival] == CHOSEN or mark[rival] == stamp:
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
"""One in this many options is tried first. If all of these may be chosen, the others are not tried."""
_CHEAP = 2_000_000
"""Below this number of nodes (a few milliseconds) no sample is taken."""
_MOST = 30_000_000


class Probing:
    """Finds the options of a problem that all solutions have, or no solution has, step by step.

    Args:
        problem: each of its options has an item.

    Attributes:
        mark: int32[options]: NEVER, CHOSEN, or another value for undecided options.
        contradicts: whether the problem is proven to have no solution.
        never: the number of options that trying proved to belong to no solution.
        work: the number of nodes examined.
    """

    def __init__(self, problem: CoverProblem) -> None:
        self._problem = problem
        self.contradicts = False
        self.never = self.work = 0
        self._drops = False
        items, nodes = problem.items, problem.nodes
        self.mark = np.zeros(problem.options, np.int32)
        self._owner = np.repeat(np.arange(problem.options, dtype=np.int32), np.diff(problem.starts))
        self._by_item = np.argsort(nodes, kind="stable").astype(np.int32)
        self._item_starts = np.zeros(items + 1, np.int32)
        np.cumsum(np.bincount(nodes, minlength=items), out=self._item_starts[1:])
        self._coloured = problem.coloured()
        self._minimum, self._maximum = problem.minimum.copy(), problem.maximum.copy()
        self._hole = problem.may_be_hole.copy()
        self._shade = np.full(items, -1, np.int32)
        heavy = problem.weights > self._maximum[nodes]
        if heavy.any():
            self.mark[self._owner[heavy & ~self._coloured[nodes]]] = NEVER
        alive = (self.mark != NEVER)[self._owner]
        self._left = np.bincount(nodes, problem.weights * alive, items).astype(np.int64)
        self._heaviest = np.zeros(items, np.int32)
        np.maximum.at(self._heaviest, nodes, problem.weights)
        self._lost = np.zeros(items, np.int64)
        self._touched = np.zeros(items, np.int32)

    @property
    def changed(self) -> bool:
        """Whether an option or an item can be left out."""
        return bool((self.mark < 0).any()) or bool((self._left == 0).any())

    def run(self) -> None:
        """Continue until nothing more is found or the budget is spent."""
        while self._force() and self._try_each():
            pass

    def _force(self) -> bool:
        """Choose the forced options. Returns whether there may be solutions."""
        problem, items = self._problem, self._problem.items
        waiting, waits = np.arange(items, dtype=np.int32), np.ones(items, np.bool_)
        found = force(
            problem.starts, problem.nodes, problem.weights, problem.colours, self._item_starts, self._by_item,
            self._owner, self._minimum, self._maximum, self._heaviest, self._hole, self._coloured,
            self._shade, self.mark, self._left, waiting, waits, np.array([0, items], np.int64),
        )  # fmt: skip
        self.contradicts = found == _CONTRADICTION
        return not self.contradicts

    def _try_each(self) -> bool:
        """Mark options that cannot be chosen. Returns whether there were any."""
        problem = self._problem
        if self._drops or self.work > _MOST or not problem.options:
            return False
        found = self._tried(0, _SAMPLE)
        if not found and self.work * _SAMPLE > _CHEAP:
            self._drops = True
        elif not self.contradicts:
            found += self._tried(0, 1)
        self.never += found
        return found > 0

    def _tried(self, begin: int, stride: int) -> int:
        """Try every `stride`-th option from `begin` on. Returns the number of options dropped."""
        problem, work, holes = self._problem, np.zeros(1, np.int64), -1
        if problem.holes is not None:
            holes = problem.holes - int((self._hole & (self._left == 0)).sum())
            if holes < 0:
                self.contradicts = True
                return 0
        self.mark[self.mark > 0] = 0
        found: int = probe(
            problem.starts, problem.nodes, problem.weights, problem.colours, self._item_starts, self._by_item,
            self._owner, self._minimum, self._maximum, self._hole, self._coloured, holes, begin, stride,
            _MOST - self.work, self.mark, self._left, self._lost, self._touched, work,
        )  # fmt: skip
        self.work += int(work[0])
        return found

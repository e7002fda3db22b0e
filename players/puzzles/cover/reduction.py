"""Make a cover problem smaller without losing a solution (`reduced`), and split it into branches without
common solutions, each searched by its own engine (`Branches`).

The reduction chooses forced options and drops the options that collide with them. To split a problem, take an
item that must be covered. In every solution it has a first chosen option. There is one branch for each of its
options, in which the options before it are dropped. So solutions are counted once for any bounds of the item.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.companions import Stepwise
from players.puzzles.cover.engines.engine import CoverEngine, sorted_parts
from players.puzzles.cover.outcome import damaged, number, solutions
from players.puzzles.cover.problem import CoverProblem, CoverRest, restricted
from propnet.jit.decorators import ARENA, inner, kernel

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False, slots=True)
class _ReducedProblem:
    """A smaller problem whose solutions stand for those of the original one.

    Attributes:
        problem: the smaller problem; None if it clearly has no solution.
        options: the original problem's number of each of its options, ascending, int32.
        always: options of the original problem that all solutions have, int32.
        statistics: statistics of the reduction, numbers by name.
    """

    problem: CoverProblem | None
    options: NDArray[np.int32]
    always: NDArray[np.int32]
    statistics: dict[str, int]


_NEVER, _CHOSEN = -1, -2
"""The marks of an option that is never chosen, and of one that all solutions have."""
_CONTRADICTION = -1
"""There is no solution."""


@inner
def _drop(
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
    """Mark an option with _NEVER and queue its items."""
    mark[option] = _NEVER
    for node in range(starts[option], starts[option + 1]):
        item = nodes[node]
        left[item] -= weights[node]
        if not waits[item]:
            waits[item] = True
            waiting[ends[1] % waiting.shape[0]] = item
            ends[1] += 1


@kernel(**ARENA)
def _force(
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
    coloured: NDArray[np.bool_],
    shade: Ints,
    mark: Ints,
    left: NDArray[np.int64],
    waiting: Ints,
    waits: NDArray[np.bool_],
    ends: NDArray[np.int64],
) -> int:
    """Choose all options without which an item does not reach its minimum, and drop the options that collide
    with them, until no more are found. Returns the number of options chosen, or _CONTRADICTION.

    Args:
        minimum, maximum: the bounds of the rest that is still to be chosen; updated in place.
        heaviest: int32[items], at least the largest weight in each.
        shade: int32[items], the colour of the chosen options, 0 closed to all, -1 none yet; updated in place.
        mark: int32[options], _NEVER, _CHOSEN or another value; updated in place.
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
            if mark[option] == _NEVER or mark[option] == _CHOSEN:
                continue
            if left[item] - weights[by_item[k]] >= minimum[item]:
                continue
            mark[option] = _CHOSEN
            found += 1
            for node in range(starts[option], starts[option + 1]):
                hit = nodes[node]
                left[hit] -= weights[node]
                minimum[hit] -= weights[node]
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
                    if mark[rival] == _NEVER or mark[rival] == _CHOSEN:
                        continue
                    if coloured[hit]:
                        if shade[hit] > 0 and colours[other] == shade[hit]:
                            continue
                    elif weights[other] <= maximum[hit]:
                        continue
                    _drop(rival, starts, nodes, weights, left, mark, waiting, waits, ends)
    return found


def _forced(problem: CoverProblem) -> NDArray[np.int32] | None:
    """Return the mark of each option, int32[options]: _CHOSEN, _NEVER or 0; None if there is no solution."""
    items, nodes = problem.items, problem.nodes
    mark = np.zeros(problem.options, np.int32)
    owner = np.repeat(np.arange(problem.options, dtype=np.int32), np.diff(problem.starts))
    by_item = np.argsort(nodes, kind="stable").astype(np.int32)
    item_starts = np.zeros(items + 1, np.int32)
    np.cumsum(np.bincount(nodes, minlength=items), out=item_starts[1:])
    coloured = problem.coloured()
    mark[owner[(problem.weights > problem.maximum[nodes]) & ~coloured[nodes]]] = _NEVER
    left = np.bincount(nodes, problem.weights * (mark != _NEVER)[owner], items).astype(np.int64)
    heaviest = np.zeros(items, np.int32)
    np.maximum.at(heaviest, nodes, problem.weights)
    found = _force(
        problem.starts, nodes, problem.weights, problem.colours, item_starts, by_item, owner,
        problem.minimum.copy(), problem.maximum.copy(), heaviest, coloured, np.full(items, -1, np.int32),
        mark, left, np.arange(items, dtype=np.int32), np.ones(items, np.bool_),
        np.array([0, items], np.int64),
    )  # fmt: skip
    return None if found == _CONTRADICTION else mark


def reduced(problem: CoverProblem) -> _ReducedProblem:
    """Return a smaller problem with the same solutions. The result is deterministic."""
    mark = _forced(problem)
    rest: CoverRest | None = None
    if mark is not None:
        chosen = np.flatnonzero(mark == _CHOSEN).astype(np.int32)
        rest = restricted(problem, chosen, np.flatnonzero(mark == _NEVER))
    if rest is None:
        return _ReducedProblem(None, np.zeros(0, np.int32), np.zeros(0, np.int32), {"options": 0})
    statistics = {
        "items_before": problem.items,
        "items": rest.problem.items,
        "options_before": problem.options,
        "options": rest.problem.options,
        "forced": len(chosen),
    }
    return _ReducedProblem(rest.problem, rest.options, chosen, statistics)


_MOST_CHILDREN = 4096


@dataclass(frozen=True, slots=True)
class CoverBranch:
    """The solutions with all of the `chosen` options and none of the `dropped` ones.

    Attributes:
        path: its place in the tree of branches, which is also the order of the search.
        share: its share of the whole, if all children of a branch have equal shares.
    """

    path: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    share: float = 1.0


def branches(problem: CoverProblem, parts: int) -> list[CoverBranch]:
    """Return about ``parts`` branches: more or fewer if the tree has no such cut, or if some branches have no
    solution.

    The same problem is always split in the same way. Each solution is in exactly one branch.
    """
    root = CoverBranch()
    waiting = [(-1.0, root.path, root)]
    whole: list[CoverBranch] = []
    while waiting and len(waiting) + len(whole) < parts:
        *_, branch = heapq.heappop(waiting)
        children = _children(problem, branch)
        if children is None:
            whole.append(branch)
            continue
        for child in children:
            heapq.heappush(waiting, (-child.share, child.path, child))
    return sorted(whole + [branch for *_, branch in waiting], key=lambda branch: branch.path)


def _children(problem: CoverProblem, branch: CoverBranch) -> list[CoverBranch] | None:
    """Return the parts of a branch: an empty list if it has no solution, None if it is not worth
    splitting."""
    rest = restricted(problem, branch.chosen, branch.dropped)
    if rest is None:
        return []
    small = rest.problem
    if not small.items:
        return None
    sizes = np.bincount(small.nodes, minlength=small.items)
    must = small.minimum > 0
    if must.any():
        sizes = np.where(must, sizes, np.iinfo(np.int64).max)
    item = int(sizes.argmin())
    if sizes[item] > _MOST_CHILDREN:
        return None
    owner = np.repeat(rest.options, np.diff(small.starts))
    candidates = [int(option) for option in owner[small.nodes == item]]
    none_chosen = not must[item]
    share = branch.share / (len(candidates) + none_chosen)
    children = [
        CoverBranch((*branch.path, k), (*branch.chosen, option), (*branch.dropped, *candidates[:k]), share)
        for k, option in enumerate(candidates)
    ]
    if none_chosen:
        path = (*branch.path, len(candidates))
        children.append(CoverBranch(path, branch.chosen, (*branch.dropped, *candidates), share))
    return children


Solution = NDArray[np.int32]


class BranchSearch(Stepwise):
    """Finds the solutions of a branch of a reduced problem, as solutions of the original problem.

    Args:
        reduced: the reduced problem; its ``problem`` is not None.
        branch: the part to search.
        kind: the class of the engine.
        delivers: whether to keep solutions; otherwise they are only counted.
        state: the saved state of the engine to resume from.

    Attributes:
        found: solutions that were not taken yet.
        count: the number of solutions found.
        over: whether the search of the branch is complete.
    """

    def __init__(
        self,
        reduced: _ReducedProblem,
        branch: CoverBranch,
        kind: type[CoverEngine],
        *,
        delivers: bool,
        state: dict[str, Any] | None = None,
    ) -> None:
        assert reduced.problem is not None
        self.branch = branch
        self.found: list[Solution] = []
        self.count = 0
        self.over = False
        self._delivers = delivers
        self._engine: CoverEngine | None = None
        self._nodes = 1
        problem, self._numbers = reduced.problem, reduced.options
        self._always = np.concatenate((reduced.always, reduced.options[list(branch.chosen)]))
        if branch.chosen or branch.dropped:
            rest = restricted(problem, branch.chosen, branch.dropped)
            if rest is None:
                self.over = True
                return
            problem, self._numbers = rest.problem, reduced.options[rest.options]
        if not problem.options:
            self.over = True
            self.count = 1
            if delivers:
                self._keep([np.zeros(0, np.int32)])
        elif state is None:
            self._engine = kind(problem, delivers=delivers)
        else:
            self._engine = kind.resumed(problem, state, delivers=delivers)

    @property
    def nodes(self) -> int:
        """The number of nodes searched."""
        return self._engine.nodes if self._engine else self._nodes

    @property
    def progress(self) -> float:
        """The share of the branch that is done, 0 to 1."""
        return 1.0 if self.over or self._engine is None else self._engine.progress

    def step(self, deadline: float) -> bool:
        """Search until about the deadline, or until the engine's buffer is full. Returns whether the search
        is complete."""
        if self._engine is not None and not self.over:
            self.over = self._engine.step(deadline)
            self.count = self._engine.count
            if self._delivers:
                self._keep(self._engine.taken())
        return self.over

    def _keep(self, solutions: list[Solution]) -> None:
        """Turn solutions of the branch's problem into solutions of the original problem."""
        if not solutions:
            return
        if not len(self._always) and (not len(self._numbers) or self._numbers[-1] + 1 == len(self._numbers)):
            self.found += solutions  # no option is dropped, and all have their original numbers
            return
        lengths = np.array([len(one) for one in solutions])
        flat = self._numbers[np.concatenate(solutions)]
        if len(self._always):
            own = np.repeat(np.cumsum(lengths), len(self._always))
            flat = np.insert(flat, own, np.tile(self._always, len(solutions)))
            lengths += len(self._always)
        self.found += sorted_parts(flat, np.cumsum(lengths))

    def saved(self) -> dict[str, Any]:
        """Return the state to resume from, for JSON."""
        return {
            "engine": None if self._engine is None or self.over else self._engine.saved(),
            "found": [solution.tolist() for solution in self.found],
            "count": self.count,
            "nodes": self.nodes,
        }

    @classmethod
    def resumed(
        cls,
        reduced: _ReducedProblem,
        branch: CoverBranch,
        kind: type[CoverEngine],
        state: dict[str, Any],
        *,
        options: int,
        delivers: bool,
    ) -> BranchSearch:
        """Return the saved search; `options` is the number of options of the original problem. Raises
        CoverError."""
        count, nodes = number(state, "count"), number(state, "nodes")
        found = solutions(state, "found", options)
        engine = state.get("engine")
        if engine is None:
            one = cls.__new__(cls)
            one.branch, one._delivers = branch, delivers
            one._engine, one.over, one._nodes = None, True, nodes
        elif isinstance(engine, dict):
            one = cls(reduced, branch, kind, delivers=delivers, state=engine)
            if one._engine is None:
                raise damaged("a branch without solutions has an engine")
        else:
            raise damaged("the state of an engine must be an object")
        one.found, one.count = found, count
        return one

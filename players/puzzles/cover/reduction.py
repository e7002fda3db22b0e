"""Make a cover problem smaller without losing a solution (`reduced`), and split it into branches without
common solutions, each searched by its own engine (`Branches`).

The reduction chooses forced options, drops options that are never chosen, and merges items that are alike. To
split a problem, take an item that must be covered. In every solution it has a first chosen option. There is
one branch for each of its options, in which the options before it are dropped. So solutions are counted once
for any bounds of the item.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import CoverEngine, sorted_parts
from players.puzzles.cover.outcome import damaged, number, solutions
from players.puzzles.cover.probing import CHOSEN, NEVER, Probing
from players.puzzles.cover.problem import CoverProblem, CoverRest, restricted


@dataclass(frozen=True, eq=False, slots=True)
class _ReducedProblem:
    """A smaller problem whose solutions stand for those of the original one.

    Attributes:
        problem: the smaller problem, in which each option has an item; None if there is no solution.
        options: the original problem's number of each of its options, ascending, int32.
        always: options of the original problem that all solutions have, int32.
        statistics: statistics of the reduction, numbers by name.
    """

    problem: CoverProblem | None
    options: NDArray[np.int32]
    always: NDArray[np.int32]
    statistics: dict[str, int]


def reduced(problem: CoverProblem) -> _ReducedProblem:
    """Return a smaller problem with the same solutions. The result is deterministic."""
    whole = _with_items(problem)
    probing = Probing(whole)
    probing.run()
    chosen = np.flatnonzero(probing.mark == CHOSEN).astype(np.int32)
    rest: CoverRest | None = CoverRest(whole, np.arange(whole.options, dtype=np.int32))
    if probing.contradicts:
        rest = None
    elif probing.changed:
        rest = restricted(whole, chosen, np.flatnonzero(probing.mark == NEVER))
    if rest is None:
        return _ReducedProblem(None, np.zeros(0, np.int32), np.zeros(0, np.int32), {"options": 0})
    small = _without_idle_items(rest.problem)
    statistics = {
        "items_before": problem.items,
        "items": small.items,
        "options_before": problem.options,
        "options": small.options,
        "forced": len(chosen),
        "never_chosen": probing.never,
    }
    return _ReducedProblem(small, rest.options, chosen, statistics)


def _without_idle_items(problem: CoverProblem) -> CoverProblem:
    """Return the same options on fewer items. Of items that the same options cover in the same way only the
    first stays, and no item stays whose bounds cannot be broken. Every option keeps an item."""
    items = problem.items
    if not len(problem.nodes):
        return problem
    coloured = problem.coloured()
    owner = np.repeat(np.arange(problem.options, dtype=np.int64), np.diff(problem.starts))
    limited = problem.may_be_hole if problem.holes is not None else np.zeros(items, np.bool_)
    total = np.bincount(problem.nodes, problem.weights, items)
    idle = ~coloured & ~limited & (problem.minimum == 0) & (total <= problem.maximum)

    by_item = np.argsort(problem.nodes, kind="stable")
    ends = np.cumsum(np.bincount(problem.nodes, minlength=items))
    rows = np.stack((owner, problem.weights), axis=1)[by_item]
    seen: set[tuple[int, int, bytes]] = set()
    begin = 0
    for item, end in enumerate(ends.tolist()):
        if not idle[item] and not coloured[item] and not limited[item]:
            low, high = int(problem.minimum[item]), int(problem.maximum[item])
            key = low, high, rows[begin:end].tobytes()
            idle[item] = key in seen
            seen.add(key)
        begin = end

    # An option keeps its first item if it would have none.
    stays = np.zeros(problem.options, np.bool_)
    stays[owner[~idle[problem.nodes]]] = True
    idle[problem.nodes[problem.starts[:-1][~stays]]] = False
    if not idle.any():
        return problem
    used = ~idle[problem.nodes]
    number = np.cumsum(~idle, dtype=np.int32) - 1
    starts = np.zeros(problem.options + 1, np.int32)
    np.cumsum(np.bincount(owner[used], minlength=problem.options), out=starts[1:])
    return replace(
        problem,
        minimum=problem.minimum[~idle],
        maximum=problem.maximum[~idle],
        starts=starts,
        nodes=number[problem.nodes[used]].astype(np.int32),
        weights=problem.weights[used],
        colours=problem.colours[used],
        may_be_hole=problem.may_be_hole[~idle],
        item_names=(),
        option_names=(),
    )


def _with_items(problem: CoverProblem) -> CoverProblem:
    lengths = np.diff(problem.starts)
    free = np.flatnonzero(lengths == 0)
    if not len(free):
        return problem
    starts = np.zeros(problem.options + 1, np.int32)
    np.cumsum(np.maximum(lengths, 1), out=starts[1:])
    at = problem.starts[free]
    zeros, ones = np.zeros(len(free), np.int32), np.ones(len(free), np.int32)
    return replace(
        problem,
        minimum=np.concatenate((problem.minimum, zeros)),
        maximum=np.concatenate((problem.maximum, ones)),
        starts=starts,
        nodes=np.insert(problem.nodes, at, problem.items + np.arange(len(free), dtype=np.int32)),
        weights=np.insert(problem.weights, at, ones),
        colours=np.insert(problem.colours, at, zeros),
        may_be_hole=np.concatenate((problem.may_be_hole, np.zeros(len(free), np.bool_))),
        item_names=(),
    )


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


class BranchSearch:
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
        if not problem.items:
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

    def step(self, deadline: float) -> None:
        """Search until about the deadline, or until the engine's buffer is full."""
        if self._engine is None or self.over:
            return
        self.over = not self._engine.step(deadline)
        self.count = self._engine.count
        if self._delivers:
            self._keep(self._engine.taken())

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

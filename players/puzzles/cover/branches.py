"""A cover problem cut into branches without common solutions, each searched by an engine of its own.

An item that must be covered has a first chosen option in every solution: one branch for each of its options,
in which the options before it are dropped. So solutions are counted once whatever the item's bounds are.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import CoverEngine, sorted_parts
from players.puzzles.cover.outcome import damaged, number, solutions
from players.puzzles.cover.problem import CoverProblem, restricted
from players.puzzles.cover.reduction import ReducedProblem

_MOST_CHILDREN = 4096


@dataclass(frozen=True, slots=True)
class CoverBranch:
    """The solutions with all of the `chosen` options and none of the `dropped` ones.

    Attributes:
        path: where it stands in the tree of branches; they are searched in this order.
        share: which part of the whole it is, where all children of a branch have the same.
    """

    path: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    share: float = 1.0


def branches(problem: CoverProblem, parts: int) -> list[CoverBranch]:
    """About so many branches, or a few more, or as many as there are; fewer where some have no solution.

    The same problem is always cut in the same way. Each solution is in exactly one branch.
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
    """The parts of a branch; none if it has no solution, None if it is not worth cutting."""
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
    """The solutions of a branch of a reduced problem, told as solutions of the problem it was made from.

    Args:
        reduced: the problem; it is not None.
        branch: which part of it.
        kind: the engine.
        delivers: whether solutions are kept, or only counted.
        state: what the engine saved, to go on from there.

    Attributes:
        found: solutions that nobody has fetched yet.
        count: how many were found.
        over: whether the branch is searched.
    """

    def __init__(
        self,
        reduced: ReducedProblem,
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
        """Nodes of the search tree so far."""
        return self._engine.nodes if self._engine else self._nodes

    @property
    def progress(self) -> float:
        """How much of the branch is done, 0 to 1."""
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
        """Solutions of the branch's own problem become solutions of the original one."""
        if not solutions:
            return
        if not len(self._always) and (not len(self._numbers) or self._numbers[-1] + 1 == len(self._numbers)):
            self.found += solutions  # all options are there, with their numbers
            return
        lengths = np.array([len(one) for one in solutions])
        flat = self._numbers[np.concatenate(solutions)]
        if len(self._always):
            own = np.repeat(np.cumsum(lengths), len(self._always))
            flat = np.insert(flat, own, np.tile(self._always, len(solutions)))
            lengths += len(self._always)
        self.found += sorted_parts(flat, np.cumsum(lengths))

    def saved(self) -> dict[str, Any]:
        """What goes on from here, for JSON."""
        return {
            "engine": None if self._engine is None or self.over else self._engine.saved(),
            "found": [solution.tolist() for solution in self.found],
            "count": self.count,
            "nodes": self.nodes,
        }

    @classmethod
    def resumed(
        cls,
        reduced: ReducedProblem,
        branch: CoverBranch,
        kind: type[CoverEngine],
        state: dict[str, Any],
        *,
        options: int,
        delivers: bool,
    ) -> BranchSearch:
        """The search that was saved; `options` is the number of the original problem's. Raises CoverError."""
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
            raise damaged("an engine's state is no object")
        one.found, one.count = found, count
        return one

"""One branch of a cover problem, searched by an engine of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.branches import CoverBranch
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.reduction.reduced import ReducedProblem
from players.puzzles.cover.restriction import restricted
from players.puzzles.cover.saving import damaged, number, solutions

Solution = NDArray[np.int32]


class BranchSearch:
    """The solutions of a branch of a reduced problem, told as solutions of the problem it was made from.

    Args:
        reduced: the problem; it has solutions.
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
        self.branch = branch
        self.found: list[Solution] = []
        self.count = 0
        self.over = False
        self._reduced, self._delivers = reduced, delivers
        self._engine: CoverEngine | None = None
        self._nodes = 1
        assert reduced.problem is not None
        whole = not branch.chosen and not branch.dropped
        self._chosen = np.array(branch.chosen, np.int32)
        self._options: NDArray[np.int32] | None = None
        problem = reduced.problem
        if not whole:
            rest = restricted(reduced.problem, branch.chosen, branch.dropped)
            if rest is None:
                self.over = True
                return
            problem, self._options = rest.problem, rest.options
        if not problem.items:
            self.over = True
            self._keep([np.zeros(0, np.int32)])
            return
        keeps = delivers or reduced.weighted
        if state is None:
            self._engine = kind(problem, delivers=keeps)
        else:
            self._engine = kind.resumed(problem, state, delivers=keeps)

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
        engine = self._engine
        if engine is None or self.over:
            return
        more = engine.step(deadline)
        if self._delivers or self._reduced.weighted:
            self._keep(engine.taken())
        else:
            self.count = engine.count
        self.over = not more

    def _keep(self, solutions: list[Solution]) -> None:
        """Solutions of the branch's own problem become solutions of the original one."""
        if not solutions:
            return
        if self._options is not None:
            ends = np.cumsum([len(one) for one in solutions])
            flat = self._options[np.concatenate(solutions)]
            parts = np.split(flat, ends[:-1])
            solutions = [np.sort(np.concatenate((self._chosen, part))) for part in parts]
        if not self._delivers:
            self.count += self._reduced.counted(solutions)
            return
        whole = self._reduced.expanded(solutions)
        self.found += whole
        self.count += len(whole)

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
            one.branch, one._reduced, one._delivers = branch, reduced, delivers
            one._engine, one.over, one._nodes = None, True, nodes
        elif isinstance(engine, dict):
            one = cls(reduced, branch, kind, delivers=delivers, state=engine)
            if one._engine is None:
                raise damaged("a branch without solutions has an engine")
        else:
            raise damaged("an engine's state is no object")
        one.found, one.count = found, count
        return one

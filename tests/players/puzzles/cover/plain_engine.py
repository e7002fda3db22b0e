"""A cover engine that is short rather than fast, and every set of options judged: oracles for searches."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverError, CoverProblem


def all_solutions(problem: CoverProblem) -> set[tuple[int, ...]]:
    """Every set of options is tried."""
    sets = chain.from_iterable(combinations(range(problem.options), k) for k in range(problem.options + 1))
    return {chosen for chosen in sets if problem.is_solution(chosen)}


class PlainEngine(CoverEngine):
    """Each option in its turn is chosen or not, in the order of binary numbers; a node is a whole set."""

    name = "plain"

    def __init__(self, problem: CoverProblem, *, delivers: bool = True) -> None:
        super().__init__(problem, delivers=delivers)
        self._found: list[NDArray[np.int32]] = []

    @classmethod
    def takes(cls, problem: CoverProblem) -> bool:
        return problem.options <= 16

    def step(self, deadline: float, nodes: int | None = None) -> bool:
        for _ in range(50 if nodes is None else nodes):
            if self.over:
                break
            chosen = [k for k in range(self.problem.options) if self.nodes >> k & 1]
            if self.problem.is_solution(chosen):
                self.count += 1
                if self.delivers:
                    self._found.append(np.array(chosen, np.int32))
            self.nodes += 1
            self.over = self.nodes == 1 << self.problem.options
        return not self.over

    def taken(self) -> list[NDArray[np.int32]]:
        found, self._found = self._found, []
        return found

    @property
    def progress(self) -> float:
        return self.nodes / (1 << self.problem.options)

    def saved(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "count": self.count}

    @classmethod
    def resumed(cls, problem: CoverProblem, saved: dict[str, Any], *, delivers: bool = True) -> Self:
        if type(saved.get("nodes")) is not int or type(saved.get("count")) is not int:
            raise CoverError("the saved search is damaged")
        engine = cls(problem, delivers=delivers)
        engine.nodes, engine.count = saved["nodes"], saved["count"]
        engine.over = engine.nodes >= 1 << problem.options
        return engine

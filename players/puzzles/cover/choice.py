"""Choose the engine for a cover problem by the estimated cost of a node, and decide whether the counting memo
will overtake the engine that counts."""

from __future__ import annotations

import time

import numpy as np

from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.engines.cells import DancingCells
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.memo import MemoCounter
from players.puzzles.cover.problem import CoverError, CoverProblem

ENGINES: dict[str, type[CoverEngine]] = {kind.name: kind for kind in (DancingCells, Bitset)}
"""All engines by name."""


def engine_for(problem: CoverProblem, name: str | None) -> type[CoverEngine]:
    """Return the engine with this name, or for None the one that suits the problem. Raises CoverError if the
    engine does not take the problem."""
    if name is None:
        return _chosen(problem)
    if not ENGINES[name].takes(problem):
        raise CoverError(
            f"the engine {name} cannot search this problem", remedy="leave the choice to the search"
        )
    return ENGINES[name]


def _chosen(problem: CoverProblem) -> type[CoverEngine]:
    return Bitset if Bitset.takes(problem) else DancingCells


_BUILD, _BUILD_NODE, _WORTH = 0.001, 1e-6, 10.0
"""Seconds to build a memo, and seconds per node of the problem. A memo is built if the engine still needs at
least _WORTH times as long."""
_TRIED = 0.08
"""The share of the engine's time that the memo may take before it must be clearly faster."""
_CLEARLY = 0.3
_SLICE, _LONGEST_SLICE = 0.0005, 0.25
_SHARE = 0.1
"""A slice lasts this share of the time already spent."""


class MemoBeside:
    """Counts the solutions of a problem in place of an engine, once the engine would take long.

    Args:
        problem: a problem that the memo takes.

    Attributes:
        memo: the memo; None until it begins.
        gave_up: whether the memo needs too much memory, or is slower for good.
    """

    def __init__(self, problem: CoverProblem) -> None:
        self._problem = problem
        self.memo: MemoCounter | None = None
        self.gave_up = False
        self._spent = 0.0

    @property
    def over(self) -> bool:
        """Whether the memo has counted all solutions."""
        return self.memo is not None and self.memo.over

    def leads(self, spent: float, progress: float) -> bool:
        """Return whether the memo should continue rather than the engine.

        Args:
            spent: CPU seconds that the engine has used.
            progress: the part of the engine's work that is done, 0 to 1.
        """
        if self.gave_up or not spent:
            return False
        left = spent * (1 / progress - 1) if progress > 1e-12 else 1e12
        if self.memo is None:
            build_seconds = _BUILD + _BUILD_NODE * len(self._problem.nodes)
            # A young search may be wrong about the time left.
            if spent < build_seconds or left < _WORTH * build_seconds:
                return False
            began = time.thread_time()
            self.memo = MemoCounter(self._problem)
            self._spent = time.thread_time() - began
        rest = self.memo.seconds_left
        tried = self._spent + self.memo.seconds < _TRIED * (spent + left)
        return rest < left and (tried or rest < _CLEARLY * left)

    def slice(self, spent: float) -> float:
        """Return how many seconds the leader runs before the two are compared again."""
        every = spent + (self.memo.seconds if self.memo else 0.0)
        return min(max(_SLICE, _SHARE * every), _LONGEST_SLICE)

    def step(self, deadline: float) -> None:
        """Let the memo count until about the deadline (time.monotonic() seconds)."""
        assert self.memo is not None
        self.memo.step(deadline)
        if self.memo.gave_up:
            self.gave_up = True
            self.memo = None

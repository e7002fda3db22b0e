"""Which engine searches a cover problem: by what a node costs, estimated, and where that is close, tried."""

from __future__ import annotations

import time

import numpy as np

from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.engines.cells import DancingCells
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.masks import MasksEngine
from players.puzzles.cover.problem import CoverError, CoverProblem

ENGINES: dict[str, type[CoverEngine]] = {kind.name: kind for kind in (MasksEngine, DancingCells, Bitset)}
"""All engines by their names."""
_CLOSE = 5.0
"""Estimates whose ratio is larger are believed."""
_TRIAL_NODES = 2_000
_SMALL = 5_000
"""Options times items of a problem that is not worth the trial."""


def engine_for(problem: CoverProblem, name: str | None) -> type[CoverEngine]:
    """The engine of this name, or with None the one that suits the problem. Raises CoverError if it does not
    take the problem."""
    if name is None:
        return _chosen(problem)
    if not ENGINES[name].takes(problem):
        raise CoverError(
            f"the engine {name} cannot search this problem", remedy="leave the choice to the search"
        )
    return ENGINES[name]


def _chosen(problem: CoverProblem) -> type[CoverEngine]:
    """By about how many nanoseconds a node of the search takes each engine; measured on queens, dominoes,
    sudokus and pentominoes (see docs/measurements.md).

    Sets of options cost a word for 64 options in each item that must be covered, dancing cells what is moved:
    all nodes of the options that collide with one. Bitsets do the same as masks, for fewer problems.
    """
    sizes = np.bincount(problem.nodes, minlength=problem.items)
    length = len(problem.nodes) / max(problem.options, 1)
    moved = float(sizes[problem.nodes].sum()) / max(problem.options, 1) * length
    must = int((problem.minimum > 0).sum()) + int(problem.may_be_hole.sum()) * (problem.holes is not None)
    sets = 0.05 * (problem.options / 64 + 1) * must
    costs = {Bitset: 60 + 0.05 * sets, MasksEngine: 100 + sets, DancingCells: 250 + 0.7 * moved}
    dense = Bitset if Bitset.takes(problem) else MasksEngine
    if not dense.takes(problem):
        return DancingCells
    cheap, dear = sorted((dense, DancingCells), key=costs.__getitem__)
    if problem.options * problem.items < _SMALL or costs[dear] > _CLOSE * costs[cheap]:
        return cheap
    return min(cheap, dear, key=lambda kind: _tried(kind, problem))


def _tried(kind: type[CoverEngine], problem: CoverProblem) -> float:
    """CPU seconds for some nodes, after a few that load the kernels."""
    engine = kind(problem, delivers=False)
    engine.step(float("inf"), _TRIAL_NODES // 10)
    before, began = engine.nodes, time.thread_time()
    engine.step(float("inf"), _TRIAL_NODES)
    return (time.thread_time() - began) / max(engine.nodes - before, 1)

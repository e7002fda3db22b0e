"""Which engine searches a cover problem: by what a node costs, estimated."""

from __future__ import annotations

import numpy as np

from players.puzzles.cover.engines.bitset import Bitset
from players.puzzles.cover.engines.cells import DancingCells
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.masks import MasksEngine
from players.puzzles.cover.problem import CoverError, CoverProblem

ENGINES: dict[str, type[CoverEngine]] = {kind.name: kind for kind in (MasksEngine, DancingCells, Bitset)}
"""All engines by their names."""


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
    return min((kind for kind in ENGINES.values() if kind.takes(problem)), key=costs.__getitem__)

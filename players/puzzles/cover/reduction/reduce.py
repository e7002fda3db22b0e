"""The steps that make a cover problem smaller, one after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.reduction.reduced import ReducedProblem


def unreduced(problem: CoverProblem) -> ReducedProblem:
    """The problem itself; only options without items, which engines do not know, get an item each."""
    lengths = np.diff(problem.starts)
    free = np.flatnonzero(lengths == 0)
    if not len(free):
        return ReducedProblem(problem)
    starts = np.zeros(problem.options + 1, np.int32)
    np.cumsum(np.maximum(lengths, 1), out=starts[1:])
    at = problem.starts[free]
    zeros, ones = np.zeros(len(free), np.int32), np.ones(len(free), np.int32)
    whole = replace(
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
    return ReducedProblem(whole)


def reduced(problem: CoverProblem) -> ReducedProblem:
    """A smaller problem with the same solutions."""
    return unreduced(problem)

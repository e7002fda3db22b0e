"""The steps that make a cover problem smaller, one after the other, until none of them does any more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.reduction.merging import equal_options, without_idle_items
from players.puzzles.cover.reduction.probing import Probing
from players.puzzles.cover.reduction.reduced import ReducedProblem
from players.puzzles.cover.restriction import CoverRest, restricted

_MOST_ROUNDS = 100
"""Forced options may force others, round for round; an engine does that faster."""


def unreduced(problem: CoverProblem) -> ReducedProblem:
    """The problem itself; only options without items, which engines do not know, get an item each."""
    return ReducedProblem(_with_items(problem))


def reduced(problem: CoverProblem) -> ReducedProblem:
    """A smaller problem with the same solutions. The same problem always becomes the same one."""
    whole = _with_items(problem)
    chosen: list[int] = []
    dropped = np.zeros(0, np.int32)
    probing = Probing()
    never = rounds = 0
    while True:
        rest = restricted(whole, chosen, dropped)
        if rest is None:
            return ReducedProblem(None, statistics={"options": 0})
        forced = _forced(rest.problem)
        if len(forced) and rounds < _MOST_ROUNDS:
            rounds += 1
            chosen += rest.options[forced].tolist()
            continue
        found = probing.never(rest.problem)
        if not len(found):
            break
        never += len(found)
        dropped = np.concatenate((dropped, rest.options[found]))
    small = without_idle_items(rest.problem)
    groups = equal_options(small)
    statistics = {
        "items_before": problem.items,
        "items": small.items,
        "options_before": problem.options,
        "options": small.options if groups is None else len(groups),
        "forced": len(chosen),
        "never_chosen": never,
        "equal": 0 if groups is None else small.options - len(groups),
        "probed": probing.tried,
    }
    if small.options == problem.options and groups is None and small.items == problem.items:
        return ReducedProblem(whole, statistics=statistics)
    return _assembled(small, rest, groups, chosen, statistics)


def _assembled(
    small: CoverProblem,
    rest: CoverRest,
    groups: list[NDArray[np.int32]] | None,
    chosen: list[int],
    statistics: dict[str, int],
) -> ReducedProblem:
    always = np.array(chosen, np.int32)
    if groups is None:
        return ReducedProblem(small, list(rest.options[:, None]), always, statistics)
    leaders = np.zeros(small.options, np.bool_)
    leaders[[group[0] for group in groups]] = True
    lengths = np.diff(small.starts)
    kept = np.repeat(leaders, lengths)
    starts = np.zeros(len(groups) + 1, np.int32)
    np.cumsum(lengths[leaders], out=starts[1:])
    merged = replace(
        small,
        starts=starts,
        nodes=small.nodes[kept],
        weights=small.weights[kept],
        colours=small.colours[kept],
    )
    return ReducedProblem(merged, [rest.options[group] for group in groups], always, statistics)


def _forced(problem: CoverProblem) -> NDArray[np.int64]:
    """Options without which an item does not reach its minimum."""
    left = np.bincount(problem.nodes, problem.weights, problem.items)
    owner = np.repeat(np.arange(problem.options), np.diff(problem.starts))
    needed = left[problem.nodes] - problem.weights < problem.minimum[problem.nodes]
    return np.unique(owner[needed])


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

"""`reduced`: a cover problem made smaller before it is searched, without losing a solution.

Forced options are chosen, options that are never chosen dropped, and items that are alike become one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.probing import CHOSEN, NEVER, Probing
from players.puzzles.cover.problem import CoverProblem, CoverRest, restricted


@dataclass(frozen=True, eq=False, slots=True)
class ReducedProblem:
    """A problem whose solutions stand for those of another one.

    Attributes:
        problem: the smaller problem, in which each option has an item; None if there is no solution.
        options: for each of its options the one of the original problem, ascending, int32.
        always: options of the original problem that all solutions have, int32.
        statistics: what the reduction brought, numbers by name.
    """

    problem: CoverProblem | None
    options: NDArray[np.int32]
    always: NDArray[np.int32]
    statistics: dict[str, int]


def reduced(problem: CoverProblem) -> ReducedProblem:
    """A smaller problem with the same solutions. The same problem always becomes the same one."""
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
        return ReducedProblem(None, np.zeros(0, np.int32), np.zeros(0, np.int32), {"options": 0})
    small = _without_idle_items(rest.problem)
    statistics = {
        "items_before": problem.items,
        "items": small.items,
        "options_before": problem.options,
        "options": small.options,
        "forced": len(chosen),
        "never_chosen": probing.never,
    }
    return ReducedProblem(small, rest.options, chosen, statistics)


def _without_idle_items(problem: CoverProblem) -> CoverProblem:
    """The same options on fewer items: of items that the same options cover in the same way the first, and
    none whose bounds cannot be broken. Every option keeps an item."""
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

    # An option keeps its first item if it had no other.
    stays = np.zeros(problem.options, np.bool_)
    stays[owner[~idle[problem.nodes]]] = True
    idle[problem.nodes[problem.starts[:-1][~stays]]] = False
    if not idle.any():
        return problem
    kept = ~idle[problem.nodes]
    number = np.cumsum(~idle, dtype=np.int32) - 1
    starts = np.zeros(problem.options + 1, np.int32)
    np.cumsum(np.bincount(owner[kept], minlength=problem.options), out=starts[1:])
    return replace(
        problem,
        minimum=problem.minimum[~idle],
        maximum=problem.maximum[~idle],
        starts=starts,
        nodes=number[problem.nodes[kept]].astype(np.int32),
        weights=problem.weights[kept],
        colours=problem.colours[kept],
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

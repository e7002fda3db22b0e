"""Items and options that are alike become one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem


def without_idle_items(problem: CoverProblem) -> CoverProblem:
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


def equal_options(problem: CoverProblem) -> list[NDArray[np.int32]] | None:
    """The options in groups of equal ones of which a solution has one at most; None if all are different."""
    lengths = np.diff(problem.starts)
    if problem.options < 2 or not len(problem.nodes):
        return None
    coloured = problem.coloured()
    single = np.where(
        coloured[problem.nodes],
        problem.colours == 0,
        2 * problem.weights.astype(np.int64) > problem.maximum[problem.nodes],
    )
    alone = np.maximum.reduceat(single, problem.starts[:-1])
    values = np.random.default_rng(1).integers(1 << 62, size=problem.items, dtype=np.int64)
    with np.errstate(over="ignore"):
        mixed = values[problem.nodes] * (problem.weights * 2_000_003 + problem.colours * 7_919 + 1)
        hashed = np.add.reduceat(mixed, problem.starts[:-1])
    order = np.argsort(hashed, kind="stable")
    same = hashed[order][1:] == hashed[order][:-1]
    if not same.any():
        return None
    first = np.arange(problem.options)
    known: dict[tuple[tuple[int, int, int], ...], int] = {}
    for option in np.sort(order[np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))]):
        if not alone[option]:
            continue
        at = slice(problem.starts[option], problem.starts[option + 1])
        nodes = zip(problem.nodes[at], problem.weights[at], problem.colours[at], strict=True)
        key = tuple(sorted((int(a), int(b), int(c)) for a, b, c in nodes))
        first[option] = known.setdefault(key, int(option))
    if (first == np.arange(problem.options)).all() or not lengths.all():
        return None
    groups: dict[int, list[int]] = {}
    for option, leader in enumerate(first.tolist()):
        groups.setdefault(leader, []).append(option)
    return [np.array(group, np.int32) for _, group in sorted(groups.items())]

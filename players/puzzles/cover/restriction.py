"""What is left of a cover problem when some options are chosen and others are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from players.puzzles.cover.problem import CoverProblem


@dataclass(frozen=True, eq=False, slots=True)
class CoverRest:
    """A smaller problem, without names: its option k is option `options[k]` of the whole one, int32."""

    problem: CoverProblem
    options: NDArray[np.int32]


def restricted(
    problem: CoverProblem, chosen: Sequence[int], dropped: Sequence[int] | NDArray[np.int32]
) -> CoverRest | None:
    """The rest of a problem: its solutions and the chosen options together are the solutions of the whole
    problem that have all of the chosen options and none of the dropped ones. None if there clearly are none.

    Items that nothing covers any more are left out, so the rest may have none at all: then the empty set is
    its only solution.
    """
    items = problem.items
    owner = np.repeat(np.arange(problem.options, dtype=np.int32), np.diff(problem.starts))
    taken = np.zeros(problem.options, np.bool_)
    taken[list(chosen)] = True
    used = taken[owner]
    sums = np.bincount(problem.nodes[used], problem.weights[used], items).astype(np.int64)
    coloured = problem.coloured()
    # Without coloured nodes it may be coloured no more, but still has room for a single node.
    maximum = np.where(coloured, 1, problem.maximum - sums)
    minimum = np.maximum(problem.minimum - sums, 0)
    if (maximum < 0).any():
        return None
    # The colour that an item has now: -1 none yet, 0 closed to all.
    shade = np.full(items, -1, np.int64)
    for node in np.flatnonzero(used & coloured[problem.nodes]):
        item, colour = problem.nodes[node], problem.colours[node]
        if shade[item] >= 0 and (shade[item] != colour or colour == 0):
            return None
        shade[item] = colour

    now = shade[problem.nodes]
    fits = (now < 0) | ((now > 0) & (now == problem.colours))
    fits &= coloured[problem.nodes] | (problem.weights <= maximum[problem.nodes])
    alive = ~taken
    alive[np.asarray(dropped, np.int64)] = False
    alive[owner[~fits]] = False
    kept = alive[owner]
    reachable = np.bincount(problem.nodes[kept], problem.weights[kept], items)
    if (reachable < minimum).any():
        return None
    may_be_hole = problem.may_be_hole & (sums == 0)
    stays = reachable > 0
    holes = problem.holes
    if holes is not None:
        holes -= int((may_be_hole & ~stays).sum())
        if holes < 0:
            return None
    number = np.cumsum(stays, dtype=np.int32) - 1
    options = np.flatnonzero(alive).astype(np.int32)
    lengths = np.diff(problem.starts)[options]
    starts = np.zeros(len(options) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    rest = CoverProblem(
        minimum[stays].astype(np.int32),
        maximum[stays].astype(np.int32),
        starts,
        number[problem.nodes[kept]].astype(np.int32),
        np.where(coloured[problem.nodes[kept]], 1, problem.weights[kept]).astype(np.int32),
        problem.colours[kept],
        may_be_hole[stays],
        holes,
    )
    return CoverRest(rest, options)

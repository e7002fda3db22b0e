"""A cover problem cut into many smaller ones without common solutions, for workers to share.

An item that must be covered has a first chosen option in every solution: one branch for each of its options,
in which the options before it are dropped. So solutions are counted once whatever the item's bounds are.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.restriction import restricted

_MOST_CHILDREN = 4096


@dataclass(frozen=True, slots=True)
class CoverBranch:
    """The solutions with all of the `chosen` options and none of the `dropped` ones.

    Attributes:
        path: where it stands in the tree of branches; they are searched in this order.
        share: which part of the whole it is, where all children of a branch have the same.
    """

    path: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()
    share: float = 1.0


def branches(problem: CoverProblem, parts: int) -> list[CoverBranch]:
    """About so many branches, or a few more, or as many as there are; fewer where some have no solution.

    The same problem is always cut in the same way. Each solution is in exactly one branch.
    """
    root = CoverBranch()
    waiting = [(-1.0, root.path, root)]
    whole: list[CoverBranch] = []
    while waiting and len(waiting) + len(whole) < parts:
        *_, branch = heapq.heappop(waiting)
        children = _children(problem, branch)
        if children is None:
            whole.append(branch)
            continue
        for child in children:
            heapq.heappush(waiting, (-child.share, child.path, child))
    return sorted(whole + [branch for *_, branch in waiting], key=lambda branch: branch.path)


def _children(problem: CoverProblem, branch: CoverBranch) -> list[CoverBranch] | None:
    """The parts of a branch; none if it has no solution, None if it is not worth cutting."""
    rest = restricted(problem, branch.chosen, branch.dropped)
    if rest is None:
        return []
    small = rest.problem
    if not small.items:
        return None
    sizes = np.bincount(small.nodes, minlength=small.items)
    must = small.minimum > 0
    if must.any():
        sizes = np.where(must, sizes, np.iinfo(np.int64).max)
    item = int(sizes.argmin())
    if sizes[item] > _MOST_CHILDREN:
        return None
    owner = np.repeat(rest.options, np.diff(small.starts))
    candidates = [int(option) for option in owner[small.nodes == item]]
    none_chosen = not must[item]
    share = branch.share / (len(candidates) + none_chosen)
    children = [
        CoverBranch((*branch.path, k), (*branch.chosen, option), (*branch.dropped, *candidates[:k]), share)
        for k, option in enumerate(candidates)
    ]
    if none_chosen:
        path = (*branch.path, len(candidates))
        children.append(CoverBranch(path, branch.chosen, (*branch.dropped, *candidates), share))
    return children

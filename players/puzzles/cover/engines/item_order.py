"""In which order the counting memo looks at items: so that few of them are half done at any time.

The reversed order of Cuthill and McKee (Reducing the bandwidth of sparse symmetric matrices, 1969) suits
boards; items in very many options (the pieces of a packing puzzle) come last, whatever the rest.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_HUB = 4
"""An item in so many times the median number of options comes last."""


def item_order(items: int, starts: NDArray[np.int32], nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """A permutation of the items, int32: the one of a few with the smallest widths."""
    sizes = np.bincount(nodes, minlength=items)
    hubs = sizes > _HUB * max(float(np.median(sizes)) if items else 0.0, 1.0)
    natural = np.arange(items, dtype=np.int32)
    spread = _cuthill_mckee(items, starts, nodes, hubs)
    best, best_cost = natural, np.inf
    for order in (natural, natural[::-1], spread, spread[::-1]):
        last = np.concatenate((order[~hubs[order]], order[hubs[order]]))
        for candidate in (order, last):
            cost = order_cost(candidate, starts, nodes)
            if cost < best_cost:
                best, best_cost = candidate, cost
    return best.astype(np.int32)


def order_cost(order: NDArray[np.int32], starts: NDArray[np.int32], nodes: NDArray[np.int32]) -> float:
    """The sum of 2 ** width over all places of the order: a bound of the number of states."""
    return float(np.exp2(np.minimum(widths(order, starts, nodes), 1000)).sum())


def widths(
    order: NDArray[np.int32], starts: NDArray[np.int32], nodes: NDArray[np.int32]
) -> NDArray[np.int64]:
    """How many items from each place on an option may have covered that begins before it, int64[items]."""
    items = len(order)
    if not items or not len(nodes):
        return np.zeros(items, np.int64)
    place = np.empty(items, np.int64)
    place[order] = np.arange(items)
    places = place[nodes]
    firsts = np.minimum.reduceat(places, starts[:-1])
    reach = np.arange(items)
    np.minimum.at(reach, places, np.repeat(firsts, np.diff(starts)))
    # The item at a place may be covered from behind the first option that reaches it up to the place itself.
    change = np.zeros(items + 1, np.int64)
    open_ones = np.flatnonzero(reach < np.arange(items))
    np.add.at(change, reach[open_ones] + 1, 1)
    np.add.at(change, open_ones + 1, -1)
    return np.cumsum(change)[:items]


def _cuthill_mckee(
    items: int, starts: NDArray[np.int32], nodes: NDArray[np.int32], hubs: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Neighbours are items that share an option; hubs have none."""
    neighbours = _neighbours(items, starts, nodes, hubs)
    degree = [len(found) for found in neighbours]
    seen = [False] * items
    order: list[int] = []
    for root in sorted(range(items), key=degree.__getitem__):
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        for item in queue:
            for other in sorted(neighbours[item], key=lambda k: (degree[k], k)):
                if not seen[other]:
                    seen[other] = True
                    queue.append(other)
        order += queue
    return np.array(order, np.int32)


def _neighbours(
    items: int, starts: NDArray[np.int32], nodes: NDArray[np.int32], hubs: NDArray[np.bool_]
) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(items)]
    bounds = starts.tolist()
    all_nodes = nodes.tolist()
    is_hub = hubs.tolist()
    for begin, end in pairwise(bounds):
        members = [item for item in all_nodes[begin:end] if not is_hub[item]]
        for item in members:
            found[item].update(members)
    return found

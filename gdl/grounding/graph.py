"""Directed graphs in arrays: reachability and evaluation order (A. Kahn, 1962)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


class Edges:
    """The edges of a graph, sorted by source; source and target have shape (edges,)."""

    def __init__(self, nodes: int, source: Ints, target: Ints) -> None:
        self.target: Ints = target[np.argsort(source, kind="stable")]
        self.start = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(source, minlength=nodes), out=self.start[1:])

    def targets(self, sources: Ints) -> Ints:
        """The targets of some nodes' edges, with repetitions."""
        if len(sources) == 1:
            return self.target[self.start[sources[0]] : self.start[sources[0] + 1]]
        counts = self.start[sources + 1] - self.start[sources]
        places = np.repeat(self.start[sources] - np.cumsum(counts) + counts, counts)
        return self.target[places + np.arange(len(places))]


def spread(mark: Bools, source: Ints, target: Ints) -> None:
    """Mark every node that can be reached from the marked ones."""
    edges = Edges(len(mark), source, target)
    front: Ints = np.flatnonzero(mark)
    while len(front):
        reached: Ints = edges.targets(front)
        front = np.unique(reached[~mark[reached]])
        mark[front] = True


def order(nodes: int, source: Ints, target: Ints) -> tuple[Ints, Bools]:
    """The nodes that neither lie on a cycle nor follow one, sources before targets; a mask of the others."""
    edges = Edges(nodes, source, target)
    missing = np.bincount(target, minlength=nodes)
    front: Ints = np.flatnonzero(missing == 0)
    layers = []
    while len(front):
        layers.append(front)
        reached, times = np.unique(edges.targets(front), return_counts=True)
        missing[reached] -= times
        front = reached[missing[reached] == 0]
    return np.concatenate([*layers, np.zeros(0, np.int64)]), missing > 0

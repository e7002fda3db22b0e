"""Paths that wait for playouts from their leaves while later batches are selected: they stay at the front of
the room for paths, and count as under way in the tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import Arrays, Paths


def keep_paths(paths: Paths, rows: NDArray[np.int64]) -> None:
    """Move the paths in these rows, which ascend, to the first rows."""
    kept = len(rows)
    if not kept or rows[-1] == kept - 1:
        return
    depth = int(paths.length[rows].max())
    for each in (paths.length, paths.leaf):
        each[:kept] = each[rows]
    for each in (paths.nodes, paths.edges, paths.links, paths.columns):
        each[:kept, :depth] = each[rows, :depth]


def call_off(arrays: Arrays, paths: Paths, count: int) -> None:
    """Have the first ``count`` paths be under way no more; nothing is booked."""
    depth = int(paths.length[:count].max(initial=0))
    steps = np.arange(depth) < paths.length[:count, None]
    nodes = paths.nodes[:count, :depth][steps]
    edges = paths.edges[:count, :depth][steps]
    to_move = arrays.nodes["to_move"][nodes]
    alone = np.flatnonzero(to_move >= 0)
    np.subtract.at(arrays.nodes["pending"], nodes, 1)
    np.subtract.at(arrays.edges["pending"], edges[alone, to_move[alone]], 1)
    np.subtract.at(arrays.edges["pending"], edges[to_move < 0].ravel(), 1)

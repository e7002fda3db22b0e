"""Kernel: the moves that the roots of many small searches have found best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import OPEN, Arrays, Numbers
from propnet.jit.decorators import ARENA, kernel

_SURE = 1e6
"""What a proven win counts for, beside visits."""


@kernel(**ARENA)
def choose_moves(
    tree: Arrays,
    roots: Numbers,
    random: NDArray[np.bool_],
    draws: NDArray[np.float64],
    joints: Numbers,
) -> None:
    """Fill in the joint moves, shape (n, roles), of some open nodes: that which was visited most, or which is
    worth most of those visited alike; where ``random``, one by ``draws``, 0..1, shape (n,). All roles but
    the one to move make their first move."""
    nodes, edges = tree.nodes, tree.edges
    for i in range(len(roots)):
        node = roots[i]
        if nodes[node].status != OPEN:
            continue
        to_move = max(np.int64(nodes[node].to_move), np.int64(0))
        first = np.int64(nodes[node].first_edge)
        for role in range(joints.shape[1]):
            count = np.int64(tree.counts[node, role])
            chosen = first
            if role == to_move:
                best = -np.inf
                for edge in range(first, first + count):
                    score = edges[edge].visits + np.float64(edges[edge].worth)
                    proven = np.float64(edges[edge].proven)
                    if proven >= 0.0:
                        score = _SURE * ((50.0 - proven if to_move == 1 else proven - 50.0) / 50.0) + score
                    if score > best:
                        best, chosen = score, np.int64(edge)
                if random[i]:
                    chosen = first + min(np.int64(draws[i] * count), count - 1)
            joints[i, role] = edges[chosen].move
            first += count

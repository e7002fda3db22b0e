"""The graph of a proof-number search as flat arrays: their layout, and the numbers of fresh nodes.

The question is always the same, with another number in it: does one role, the
*own* one, get at least ``claim`` points whatever the others do?
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import kernel

NEW = 0
"""A node without edges; what its moves lead to at once is known, but not the states that follow."""
OPEN = 1
"""A node with an edge to every successor that is not terminal."""
ASKED = 2
"""A node that is about to be opened."""

NEVER = 1 << 28
"""The proof or disproof number of what is impossible."""

NODES, EDGES = 0, 1
"""Places in :attr:`Graph.used`."""

NODE = np.dtype(
    [
        ("proof", np.int32),  # how hard the claim is to prove; 0 where it is proven
        ("disproof", np.int32),  # and to disprove
        ("first", np.int32),  # the first edge of an OPEN node
        ("choices", np.int32),  # successors that are not terminal: its edges once it is OPEN
        ("work", np.int32),  # nodes opened below it
        ("low", np.int16),  # the own role is proven to get so much at least
        ("high", np.int16),  # and at most, if the others see to it
        ("ended", np.int16),  # the best of its terminal successors for the to_move (own points); or -1
        ("lanes", np.int16),  # lines of search that are below it
        ("to_move", np.uint8),  # 1 where others choose, 0 where the own role does or nobody
        ("status", np.uint8),  # NEW, OPEN or ASKED
    ],
    align=True,
)


class Graph(NamedTuple):
    """States and their successors. N nodes, E edges at most. A state reached by several paths is one
    node; terminal states are none."""

    records: NDArray[np.uint64]  # (N, words) the states, packed by the machine
    nodes: NDArray[np.void]  # (N,) NODE
    edges: NDArray[np.int32]  # (E,) the node that each edge leads to
    table: NDArray[np.int32]  # (power of two,) hash table of records: index + 1, 0 is free
    used: NDArray[np.int64]  # (2,) see NODES, EDGES


class Lines(NamedTuple):
    """Lines of search, each a path from the root. B lines, D steps at most."""

    depth: NDArray[np.int32]  # (B,) steps
    path: NDArray[np.int32]  # (B, D) its nodes
    proof: NDArray[np.int32]  # (B, D) a node is left when its numbers are larger than these
    disproof: NDArray[np.int32]  # (B, D)
    wanted: NDArray[np.int32]  # (B,) nodes that are to be opened


@kernel(nogil=True)
def set_numbers(nodes: Any, node: Any, claim: Any) -> None:
    """Give a node without edges its numbers: one for the side that needs one good move, one for each
    move for the side that must answer them all."""
    if nodes[node].low >= claim:
        nodes[node].proof = 0
        nodes[node].disproof = NEVER
    elif nodes[node].high < claim:
        nodes[node].proof = NEVER
        nodes[node].disproof = 0
    elif nodes[node].to_move == 0:
        nodes[node].proof = 1
        nodes[node].disproof = max(1, nodes[node].choices)
    else:
        nodes[node].proof = max(1, nodes[node].choices)
        nodes[node].disproof = 1

"""The graph of a proof-number search as flat arrays: their layout, and the numbers of fresh nodes.

A search asks one question, with one number in it: does one role, the *own* one, get at least ``claim``
points, whatever the others do?
"""

from __future__ import annotations

from typing import NamedTuple

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
        ("ended", np.int16),  # the best of its terminal successors for the role to move (own points); or -1
        ("lines", np.int16),  # lines of search that are below it
        ("to_move", np.uint8),  # 1 where others choose, 0 where the own role does or nobody
        ("status", np.uint8),  # NEW, OPEN or ASKED
    ],
    align=True,
)


class Graph(NamedTuple):
    """States and their successors: N nodes, E edges at most. A state reached by several paths is one node.
    Terminal states are no nodes."""

    records: NDArray[np.uint64]  # (N, words) the states, packed by the machine
    nodes: NDArray[np.void]  # (N,) NODE
    edges: NDArray[np.int32]  # (E,) the node that each edge leads to
    table: NDArray[np.int32]  # (power of two,) hash table of records: index + 1, 0 is free
    used: NDArray[np.int64]  # (2,) see NODES, EDGES


class SearchLines(NamedTuple):
    """Lines of search, each a path from the root. B lines, D steps at most."""

    depth: NDArray[np.int32]  # (B,) steps
    path: NDArray[np.int32]  # (B, D) its nodes
    proof: NDArray[np.int32]  # (B, D) a node is left when its numbers are larger than these
    disproof: NDArray[np.int32]  # (B, D)
    wanted: NDArray[np.int32]  # (B,) nodes that are to be opened


def make_graph(words: int, nodes: int, edges: int) -> Graph:
    """An empty graph with room for so many nodes, whose records have so many words, and edges."""
    return Graph(
        np.zeros((nodes, words), np.uint64),
        np.zeros(nodes, NODE),
        np.zeros(edges, np.int32),
        np.zeros(1 << (2 * nodes - 1).bit_length(), np.int32),
        np.zeros(2, np.int64),
    )


def make_lines(count: int, deepest: int) -> SearchLines:
    """So many lines of search with room for paths of so many nodes."""
    path, proof, disproof = (np.zeros((count, deepest), np.int32) for _ in range(3))
    return SearchLines(np.zeros(count, np.int32), path, proof, disproof, np.zeros(count, np.int32))


@kernel(nogil=True)
def set_numbers(nodes: NDArray[np.void], node: int, claim: int) -> None:
    """Give a node without edges its numbers: 1 for the side that needs one good move, 1 for each move for
    the side that must answer them all."""
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

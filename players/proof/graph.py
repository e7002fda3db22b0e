"""The graph of a proof-number search: flat arrays, the numbers of fresh nodes, and the loops that read it.

A search asks one question, with one number in it: does one role, the *own* one, get at least ``claim``
points, whatever the others do? Nodes that are no longer needed are dropped by mark and compact, as garbage
collectors do it (Jones, Hosking and Moss 2011, chapter 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propnet.jit.decorators import kernel
from propnet.kernels.record_table import find_record

NEW = 0
"""A node without edges; the immediate results of its moves are known, but not the states that follow."""
OPEN = 1
"""A node with an edge to every successor that is not terminal."""
ASKED = 2
"""A node that is about to be opened."""

NEVER = 1 << 28
"""The proof or disproof number of an impossible goal."""

NODES, EDGES = 0, 1
"""Places in :attr:`Graph.used`."""

NODE = np.dtype(
    [
        ("proof", np.int32),  # effort to prove the claim; 0 if it is proven
        ("disproof", np.int32),  # effort to disprove it
        ("first", np.int32),  # the first edge of an OPEN node
        ("choices", np.int32),  # successors that are not terminal: its edges once it is OPEN
        ("work", np.int32),  # nodes opened below it
        ("low", np.int16),  # proven lower bound of the own role's points
        ("high", np.int16),  # proven upper bound, if the others play against it
        ("ended", np.int16),  # the best of its terminal successors for the role to move (own points); or -1
        ("lines", np.int16),  # lines of search that are below it
        ("to_move", np.uint8),  # 1 if others choose, 0 if the own role does or no role has a choice
        ("status", np.uint8),  # NEW, OPEN or ASKED
    ],
    align=True,
)


class Graph(NamedTuple):
    """States and their successors: N nodes, E edges at most. A state reached by several paths is one node.
    Terminal states do not become nodes."""

    records: NDArray[np.uint64]  # (N, words) the states, packed by the machine
    nodes: NDArray[np.void]  # (N,) NODE
    edges: NDArray[np.int32]  # (E,) the node that each edge leads to
    table: NDArray[np.int32]  # (power of two,) hash table of records: index + 1, 0 is free
    used: NDArray[np.int64]  # (2,) see NODES, EDGES


class SearchLines(NamedTuple):
    """Lines of search, each a path from the root. B lines, D steps at most."""

    depth: NDArray[np.int32]  # (B,) steps
    path: NDArray[np.int32]  # (B, D) its nodes
    proof: NDArray[np.int32]  # (B, D) the line leaves a node when its numbers are larger than these
    disproof: NDArray[np.int32]  # (B, D)
    to_open: NDArray[np.int32]  # (B,) nodes that are to be opened


def make_graph(words: int, nodes: int, edges: int) -> Graph:
    """An empty graph with room for this many nodes, whose records have ``words`` words, and edges."""
    return Graph(
        np.zeros((nodes, words), np.uint64),
        np.zeros(nodes, NODE),
        np.zeros(edges, np.int32),
        np.zeros(1 << (2 * nodes - 1).bit_length(), np.int32),
        np.zeros(2, np.int64),
    )


def make_lines(count: int, deepest: int) -> SearchLines:
    """``count`` lines of search with room for paths of ``deepest`` nodes."""
    path, proof, disproof = (np.zeros((count, deepest), np.int32) for _ in range(3))
    return SearchLines(np.zeros(count, np.int32), path, proof, disproof, np.zeros(count, np.int32))


@kernel(nogil=True)
def set_numbers(nodes: NDArray[np.void], node: int, claim: int) -> None:
    """Set the numbers of a node without edges: 1 for the side that needs one good move, 1 for each move for
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


FAR = 1 << 14
"""The length of a win of unknown length."""
_SWEEPS = 32
"""Most sweeps that update lengths."""


@kernel(nogil=True)
def reopen(graph: Graph, root: int, most: int) -> None:
    """Forget a node's bounds, except those from its terminal successors."""
    nodes = graph.nodes
    nodes[root].low, nodes[root].high = 0, most
    if nodes[root].ended >= 0:
        if nodes[root].to_move == 0 or nodes[root].choices == 0:
            nodes[root].low = nodes[root].ended
        if nodes[root].to_move == 1 or nodes[root].choices == 0:
            nodes[root].high = nodes[root].ended


@kernel(nogil=True)
def keep(graph: Graph, root: int, fewest: int) -> np.int64:
    """Keep the nodes that can be reached from the root through open nodes that are undecided and have at
    least ``fewest`` work; the other nodes lose their edges. With 0, decided nodes keep theirs. Returns the
    root's new place; nodes stay in their order."""
    nodes, edges, used = graph.nodes, graph.edges, graph.used
    n = used[NODES]
    place = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    stack[0] = root
    place[root] = 0
    top, kept_edges = 1, 0
    while top:
        top -= 1
        node = stack[top]
        if nodes[node].status != OPEN:
            continue
        closed = nodes[node].low == nodes[node].high or nodes[node].work < fewest
        if node != root and closed and fewest:
            nodes[node].status = NEW
            continue
        kept_edges += nodes[node].choices
        first = np.int64(nodes[node].first)
        for edge in range(first, first + nodes[node].choices):
            child = edges[edge]
            if place[child] < 0:
                place[child] = 0
                stack[top] = child
                top += 1
    count = 0
    for node in range(n):
        if place[node] == 0:
            place[node] = count
            count += 1
    new_edges = np.empty(kept_edges, np.int32)
    at = 0
    graph.table[:] = 0
    used[NODES] = 0
    for node in range(n):
        k = np.int64(place[node])
        if k < 0:
            continue
        if nodes[node].status == OPEN:
            first = np.int64(nodes[node].first)
            nodes[node].first = at
            for edge in range(first, first + nodes[node].choices):
                new_edges[at] = place[edges[edge]]
                at += 1
        nodes[k] = nodes[node]
        for w in range(graph.records.shape[1]):
            graph.records[k, w] = graph.records[node, w]
        slot = -1 - find_record(graph.table, graph.records, graph.records, k)
        graph.table[slot] = k + 1
        used[NODES] = k + 1
    edges[:at] = new_edges
    used[EDGES] = at
    return np.int64(place[root])


@kernel(nogil=True)
def shown(graph: Graph, root: int) -> bool:
    """Whether the edges of a decided node, or its terminal successors, show its value."""
    nodes = graph.nodes
    value = nodes[root].low
    if nodes[root].to_move != 0 or nodes[root].choices == 0 or nodes[root].ended >= value:
        return True
    if nodes[root].status == OPEN:
        first = np.int64(nodes[root].first)
        for edge in range(first, first + nodes[root].choices):
            if nodes[graph.edges[edge]].low >= value:
                return True
    return False


@kernel(nogil=True)
def lengths(graph: Graph, value: int) -> NDArray[np.int16]:
    """Number of moves after which each node's match is over with at least ``value``, as far as is known, else
    FAR. Shape (nodes,)."""
    nodes, edges = graph.nodes, graph.edges
    n = graph.used[NODES]
    length = np.full(n, FAR, np.int16)
    for _ in range(_SWEEPS):
        changed = False
        for node in range(n - 1, -1, -1):
            if nodes[node].low < value:
                continue
            own = nodes[node].to_move == 0
            shortest = np.int64(FAR)
            if own:
                if nodes[node].ended >= value:
                    shortest = np.int64(1)
            elif nodes[node].choices == 0 or nodes[node].status == OPEN:
                shortest = np.int64(1)
            if nodes[node].status == OPEN:
                first = np.int64(nodes[node].first)
                for edge in range(first, first + nodes[node].choices):
                    after = np.int64(length[edges[edge]]) + 1
                    shortest = min(shortest, after) if own else max(shortest, after)
            shortest = min(shortest, np.int64(FAR))
            if shortest < length[node]:
                length[node] = shortest
                changed = True
        if not changed:
            break
    return length


@kernel(nogil=True)
def bounds_of(
    graph: Graph, records: NDArray[np.uint64], low: NDArray[np.int16], high: NDArray[np.int16]
) -> NDArray[np.int32]:
    """Write the bounds of those states (n, words) that are nodes to ``low`` and ``high``. Returns the nodes,
    -1 for other states."""
    numbers = np.full(len(records), -1, np.int32)
    for i in range(len(records)):
        node = find_record(graph.table, graph.records, records, i)
        if node >= 0:
            numbers[i] = node
            low[i], high[i] = graph.nodes[node].low, graph.nodes[node].high
    return numbers

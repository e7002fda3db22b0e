"""Keeping a part of the search tree: mark what the new root reaches, move it to the front, rehash.

Mark and compact, as garbage collectors do it (Jones, Hosking and Moss 2011, chapter 3). The layout is
that of :class:`players.uct.tree.arrays.Arrays`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import CELLS, EDGES, LINKS, NODES, OPEN, OPENED, Arrays, find_link
from players.uct.tree.regret_matching import keep_cells
from propnet.jit.decorators import inner, kernel
from propnet.kernels.record_table import find_node


@inner
def _reach(place: Any, stack: Any, top: Any, nodes: Any, child: Any, fewest: Any) -> Any:
    """Put a child on the stack unless it is there already, or to be dropped."""
    if child >= 0 and place[child] < 0 and nodes[child].visits >= fewest:
        place[child] = 0
        stack[top] = child
        return top + 1
    return top


@kernel(nogil=True)
def mark_from(tree: Arrays, root: Any, fewest: Any) -> Any:
    """New numbers for the nodes that can be reached from the root through nodes of at least
    ``fewest`` visits, in their old order; -1 for the others. Shape (nodes,), int32."""
    place = np.full(tree.used[NODES], -1, np.int32)
    stack = np.empty(tree.used[NODES], np.int32)
    stack[0] = root
    place[root] = 0
    top = 1
    while top:
        top -= 1
        node = stack[top]
        if tree.nodes[node].status != OPEN:
            continue
        if tree.nodes[node].to_move >= 0:
            first = tree.nodes[node].first_move
            for edge in range(first, first + tree.nodes[node].choices):
                top = _reach(place, stack, top, tree.nodes, tree.edges[edge].child, fewest)
        else:
            link = tree.nodes[node].first_link
            while link >= 0:
                top = _reach(place, stack, top, tree.nodes, tree.links[link].child, fewest)
                link = tree.links[link].next
    kept = 0
    for node in range(len(place)):
        if place[node] == 0:
            place[node] = kept
            kept += 1
    return place


@kernel(nogil=True)
def compact(tree: Arrays, place: NDArray[np.int32]) -> None:
    """Keep the nodes that :func:`mark_from` numbered, with their edges, links and cells. The hash
    tables are stale afterwards: see :func:`rehash`."""
    roles = tree.counts.shape[1]
    kept = 0
    for node in range(len(place)):
        to = place[node]
        if to < 0:
            continue
        kept += 1
        tree.nodes[to] = tree.nodes[node]
        tree.nodes[to].first_link = -1
        for w in range(tree.records.shape[1]):
            tree.records[to, w] = tree.records[node, w]
        for role in range(roles):
            tree.goals[to, role] = tree.goals[node, role]
            tree.counts[to, role] = tree.counts[node, role]
    tree.used[NODES] = kept
    opened = 0
    edges = 0
    for i in range(tree.used[OPENED]):
        node = place[tree.opened[i]]
        if node < 0:
            continue
        tree.opened[opened] = node
        opened += 1
        first = tree.nodes[node].first_edge
        tree.nodes[node].first_move += edges - first
        tree.nodes[node].first_edge = edges
        for role in range(roles):
            for _ in range(tree.counts[node, role]):
                child = tree.edges[first].child
                tree.edges[edges] = tree.edges[first]
                tree.edges[edges].child = place[child] if child >= 0 else -1
                edges += 1
                first += 1
    tree.used[OPENED] = opened
    tree.used[EDGES] = edges
    keep_cells(tree, place)
    for cell in range(tree.used[CELLS]):
        tree.cells[cell].link = -1
    links = 0
    for link in range(tree.used[LINKS]):
        parent = place[tree.links[link].parent]
        child = tree.links[link].child
        if parent < 0 or place[child] < 0:
            continue
        tree.links[links] = tree.links[link]
        tree.links[links].child = place[child]
        tree.links[links].parent = parent
        tree.links[links].next = tree.nodes[parent].first_link
        tree.nodes[parent].first_link = links
        if tree.nodes[parent].first_cell >= 0:
            tree.cells[tree.nodes[parent].first_cell + np.int64(tree.links[links].joint)].link = links
        links += 1
    tree.used[LINKS] = links


@kernel(nogil=True)
def rehash(tree: Arrays, had_links: Any) -> None:
    """Build both hash tables anew; ``had_links`` says whether there is anything in that of links."""
    tree.node_table[:] = 0
    if had_links:
        tree.link_table[:] = 0
    for node in range(tree.used[NODES]):
        slot = -1 - find_node(tree.node_table, tree.records, tree.records, node)
        tree.node_table[slot] = node + 1
    for link in range(tree.used[LINKS]):
        key = tree.links[link]
        slot = -1 - find_link(tree.link_table, tree.links, np.int64(key.parent), key.joint)
        tree.link_table[slot] = link + 1

"""Keeping a part of the search tree: mark what the new root reaches, move it to the front, rehash.

Mark and compact, as garbage collectors do it (Jones, Hosking and Moss 2011, chapter 3). The layout is
that of :class:`players.uct.tree.arrays.Arrays`.
"""

from __future__ import annotations

import numpy as np

from players.uct.tree.arrays import OPEN, Arrays, Numbers, find_link
from players.uct.tree.regret_matching import keep_cells
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.kernels.record_table import find_record


@inlined
def _reach(tree: Arrays, child: int, fewest: int, numbers: Numbers, stack: Numbers, top: int) -> int:
    """Put a child on the stack unless it was there before or is to be dropped. Returns the new top."""
    if child >= 0 and numbers[child] < 0 and tree.nodes[child].visits >= fewest:
        numbers[child] = 0
        stack[top] = child
        return top + 1
    return top


@kernel(**ARENA)
def mark_from(tree: Arrays, root: int, fewest: int, numbers: Numbers, stack: Numbers) -> None:
    """Number the nodes that can be reached from the root through nodes of at least ``fewest`` visits, in
    their old order. ``numbers`` must be -1 for all nodes before the call, and ``stack`` must have the same
    size."""
    stack[0] = root
    numbers[root] = 0
    top = 1
    while top:
        top -= 1
        node = stack[top]
        if tree.nodes[node].status != OPEN:
            continue
        if tree.nodes[node].to_move >= 0:
            first = tree.nodes[node].first_move
            for edge in range(first, first + tree.nodes[node].choices):
                top = _reach(tree, tree.edges[edge].child, fewest, numbers, stack, top)
        else:
            link = tree.nodes[node].first_link
            while link >= 0:
                top = _reach(tree, tree.links[link].child, fewest, numbers, stack, top)
                link = tree.links[link].next
    reached = 0
    for node in range(len(numbers)):
        if numbers[node] == 0:
            numbers[node] = reached
            reached += 1


@kernel(**ARENA)
def compact(tree: Arrays, numbers: Numbers) -> None:
    """Keep the nodes that :func:`mark_from` numbered, with their edges, links and cells. The hash
    tables are stale afterwards: see :func:`rehash`."""
    roles = tree.counts.shape[1]
    nodes = 0
    for node in range(len(numbers)):
        to = numbers[node]
        if to < 0:
            continue
        nodes += 1
        tree.nodes[to] = tree.nodes[node]
        tree.nodes[to].first_link = -1
        for w in range(tree.records.shape[1]):
            tree.records[to, w] = tree.records[node, w]
        for role in range(roles):
            tree.goals[to, role] = tree.goals[node, role]
            tree.counts[to, role] = tree.counts[node, role]
    tree.used[0].nodes = nodes
    opened = 0
    edges = 0
    for i in range(tree.used[0].opened):
        node = numbers[tree.opened[i]]
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
                tree.edges[edges].child = numbers[child] if child >= 0 else -1
                edges += 1
                first += 1
    tree.used[0].opened = opened
    tree.used[0].edges = edges
    keep_cells(tree, numbers)
    for cell in range(tree.used[0].cells):
        tree.cells[cell].link = -1
    links = 0
    for link in range(tree.used[0].links):
        parent = numbers[tree.links[link].parent]
        child = tree.links[link].child
        if parent < 0 or numbers[child] < 0:
            continue
        tree.links[links] = tree.links[link]
        tree.links[links].child = numbers[child]
        tree.links[links].parent = parent
        tree.links[links].next = tree.nodes[parent].first_link
        tree.nodes[parent].first_link = links
        if tree.nodes[parent].first_cell >= 0:
            tree.cells[tree.nodes[parent].first_cell + np.int64(tree.links[links].joint)].link = links
        links += 1
    tree.used[0].links = links


@kernel(**ARENA)
def rehash(tree: Arrays, had_links: bool) -> None:
    """Build both hash tables again; ``had_links`` says whether that of links has any entries."""
    tree.node_table[:] = 0
    if had_links:
        tree.link_table[:] = 0
    for node in range(tree.used[0].nodes):
        slot = -1 - find_record(tree.node_table, tree.records, tree.records, node)
        tree.node_table[slot] = node + 1
    for link in range(tree.used[0].links):
        key = tree.links[link]
        slot = -1 - find_link(tree.link_table, tree.links, np.int64(key.parent), key.joint)
        tree.link_table[slot] = link + 1

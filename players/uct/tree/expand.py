"""Expansion: the compiled loops by which the tree gets new nodes, and nodes get their moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import FRESH, OPEN, PAIR, SEVERAL, Arrays, Numbers, Paths, Table, find_link
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.kernels.record_table import find_record

_LARGEST_TABLE = 1 << 14
"""Joint moves of two roles that choose by regret."""


@inlined
def add_link(tree: Arrays, node: int, joint: np.uint64) -> np.int64:
    """Make a link for a joint move of a node; there must be room for it."""
    nodes, links = tree.nodes, tree.links
    link = tree.used[0].links
    tree.used[0].links += 1
    slot = -1 - find_link(tree.link_table, links, node, joint)
    tree.link_table[slot] = link + 1
    links[link].parent = node
    links[link].joint = joint
    links[link].child = -1
    links[link].next = nodes[node].first_link
    nodes[node].first_link = link
    if nodes[node].first_cell >= 0:
        tree.cells[nodes[node].first_cell + np.int64(joint)].link = link
    return np.int64(link)


@inlined
def _clear_node(nodes: Table, node: int) -> None:
    """Make it a node of which nothing is known."""
    nodes[node].status = FRESH
    nodes[node].opening = 0
    nodes[node].proven = -1
    nodes[node].bound = -1
    nodes[node].visits = 0
    nodes[node].pending = 0
    nodes[node].first_link = -1
    nodes[node].first_cell = -1
    nodes[node].prior_visits = 0.0
    nodes[node].guess = np.float32(0.5)
    nodes[node].to_move = 0


@inlined
def add_child(tree: Arrays, paths: Paths, path: int, edge: int, link: int, number: int) -> np.int64:
    """Make the node that the last step of a path leads to, by an edge or by a link (the other one is -1);
    there must be room. It is new node number ``number`` of this batch; its record is still to be made."""
    nodes = tree.nodes
    parent = paths.nodes[path, paths.length[path] - 1]
    child = tree.used[0].nodes
    tree.used[0].nodes += 1
    _clear_node(nodes, child)
    chosen = paths.edges[path, paths.length[path] - 1]
    first = np.int64(nodes[parent].first_edge)
    for role in range(tree.counts.shape[1]):
        made = chosen[role] if link >= 0 or role == nodes[parent].to_move else first
        paths.new_moves[number, role] = tree.edges[made].move
        first += tree.counts[parent, role]
    if edge >= 0:
        tree.edges[edge].child = child
        guess = tree.edges[edge].prior
        nodes[child].guess = np.float32(1.0) - guess if nodes[parent].to_move == 1 else guess
    else:
        tree.links[link].child = child
    paths.parents[number] = parent
    paths.from_edge[number] = edge
    paths.from_link[number] = link
    return np.int64(child)


@inlined
def _add_record(tree: Arrays, records: NDArray[np.uint64], row: int, slot: int) -> np.int64:
    """The next node, which gets a record, shape (n, words), that no node has, at this free place of the
    table."""
    node = tree.used[0].nodes
    tree.used[0].nodes += 1
    for w in range(records.shape[1]):
        tree.records[node, w] = records[row, w]
    tree.node_table[slot] = node + 1
    return np.int64(node)


@kernel(**ARENA)
def expand(tree: Arrays, paths: Paths, count: int, records: NDArray[np.uint64]) -> None:
    """Give the nodes that selection has made for ``count`` paths their records, shape (new, words). What
    leads to a state that is a node already leads to that node from now on."""
    new = len(records)
    base = tree.used[0].nodes - new
    tree.used[0].nodes = base
    for k in range(new):
        node = find_record(tree.node_table, tree.records, records, k)
        if node < 0:
            node = _add_record(tree, records, k, -1 - node)
        paths.numbers[k] = node
        if paths.from_edge[k] >= 0:
            tree.edges[paths.from_edge[k]].child = node
        else:
            tree.links[paths.from_link[k]].child = node
    for path in range(count):
        if paths.leaf[path] >= base:
            paths.leaf[path] = paths.numbers[paths.leaf[path] - base]


@kernel(**ARENA)
def find_or_add(tree: Arrays, records: NDArray[np.uint64], found: Numbers) -> None:
    """Fill in the nodes, ``found`` (n,), of states with these records, shape (n, words); there must be room
    for those that are none yet. These are FRESH."""
    for k in range(len(records)):
        node = find_record(tree.node_table, tree.records, records, k)
        if node < 0:
            node = _add_record(tree, records, k, -1 - node)
            _clear_node(tree.nodes, node)
        found[k] = node


@inlined
def _note_choices(nodes: Table, counts: Numbers, node: int) -> None:
    """Note who is to move in a node whose edges are listed, and where that role's edges begin."""
    choosers = to_move = 0
    joint_moves = np.int64(1)
    for role in range(counts.shape[1]):
        joint_moves = min(joint_moves * counts[node, role], np.int64(_LARGEST_TABLE + 1))
        if counts[node, role] > 1:
            choosers += 1
            to_move = role
    nodes[node].choices = counts[node, to_move]
    nodes[node].first_move = nodes[node].first_edge
    for role in range(to_move):
        nodes[node].first_move += counts[node, role]
    if choosers > 1:
        to_move = PAIR if choosers == 2 and joint_moves <= _LARGEST_TABLE else SEVERAL
    nodes[node].to_move = to_move


@inlined
def _clear_edge(edges: Table, edge: int, move: int, worth: float) -> None:
    edges[edge].move = move
    edges[edge].visits = 0
    edges[edge].pending = 0
    edges[edge].total = 0.0
    edges[edge].worth = worth
    edges[edge].best = 0
    edges[edge].proven = -1
    edges[edge].child = -1
    edges[edge].prior = 0.5
    edges[edge].share = 1.0


@kernel(**ARENA)
def list_moves(tree: Arrays, opened: Numbers, counts: Numbers, moves: Numbers) -> None:
    """Open the nodes ``opened`` (n,) for which there is room and in which every role has a move. ``counts``
    (n, roles) says how many legal moves each has, ``moves`` holds their ids, node by node."""
    nodes, edges = tree.nodes, tree.edges
    following = 0
    for i in range(len(opened)):
        node = opened[i]
        begin = following
        stuck = False
        for role in range(counts.shape[1]):
            following += counts[i, role]
            stuck = stuck or counts[i, role] == 0
        nodes[node].opening = 0
        first = tree.used[0].edges
        if stuck or first + following - begin > len(edges):
            continue
        tree.used[0].edges += following - begin
        nodes[node].first_edge = first
        for role in range(counts.shape[1]):
            tree.counts[node, role] = counts[i, role]
        _note_choices(nodes, tree.counts, node)
        worth = 0.0 if nodes[node].to_move == PAIR else 0.5
        for k in range(begin, following):
            _clear_edge(edges, first + k - begin, moves[k], worth)
        tree.opened[tree.used[0].opened] = node
        tree.used[0].opened += 1
        nodes[node].status = OPEN

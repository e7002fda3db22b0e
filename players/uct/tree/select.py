"""Selection: the compiled loop that walks a batch of paths from the root of the tree to its leaves.
Expansion: the loops by which the tree gets new nodes, and nodes get their moves.

UCT: Kocsis and Szepesvari 2006. If one role alone chooses: :mod:`players.uct.tree.selection_rules`. Two roles
that choose at once do so by regret matching (:mod:`players.uct.tree.regret_matching`), more roles by
decoupled UCT, each by its own statistics (Shafiei, Sturtevant and Schaeffer 2009).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import (
    ABREAST,
    FRESH,
    LEAF,
    OPEN,
    PAIR,
    SEVERAL,
    Arrays,
    Numbers,
    Paths,
    RandomState,
    Table,
    find_link,
)
from players.uct.tree.regret_matching import find_cell_link, matched_edge
from players.uct.tree.selection_rules import UCB, VALUED, SelectionRule, below, best_edge, following, uniform
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.jit.intrinsics import prefetch
from propnet.jit.random_numbers import next_random
from propnet.kernels.record_table import find_record

_LARGEST_TABLE = 1 << 14
"""Most joint moves of two roles that choose by regret."""


@inlined
def _add_link(tree: Arrays, node: int, joint: np.uint64) -> np.int64:
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
    """Reset a node to one without statistics."""
    nodes[node].status = FRESH
    nodes[node].opening = 0
    nodes[node].proven = -1
    nodes[node].bound = 0
    nodes[node].limit = 100
    nodes[node].visits = 0
    nodes[node].pending = 0
    nodes[node].first_link = -1
    nodes[node].first_cell = -1
    nodes[node].prior_visits = 0.0
    nodes[node].value = np.float32(0.5)
    nodes[node].to_move = 0


@inlined
def _add_child(tree: Arrays, paths: Paths, path: int, edge: int, link: int, number: int) -> np.int64:
    """Make the node that the last step of a path leads to, by an edge or by a link (the other one is -1);
    there must be room. It is new node number ``number`` of this batch; its record is not made yet."""
    nodes = tree.nodes
    parent = paths.nodes[path, paths.length[path] - 1]
    child = tree.used[0].nodes
    tree.used[0].nodes += 1
    _clear_node(nodes, child)
    chosen = paths.edges[path, paths.length[path] - 1]
    first = np.int64(nodes[parent].first_edge)
    for role in range(tree.counts.shape[1]):
        taken = chosen[role] if link >= 0 or role == nodes[parent].to_move else first
        paths.new_moves[number, role] = tree.edges[taken].move
        first += tree.counts[parent, role]
    if edge >= 0:
        tree.edges[edge].child = child
        value = tree.edges[edge].prior
        nodes[child].value = np.float32(1.0) - value if nodes[parent].to_move == 1 else value
    else:
        tree.links[link].child = child
    paths.parents[number] = parent
    paths.from_edge[number] = edge
    paths.from_link[number] = link
    return np.int64(child)


@inlined
def _add_record(tree: Arrays, records: NDArray[np.uint64], row: int, slot: int) -> np.int64:
    """Add a node with this record, shape (n, words), which no node has, at this free slot of the table."""
    node = tree.used[0].nodes
    tree.used[0].nodes += 1
    for w in range(records.shape[1]):
        tree.records[node, w] = records[row, w]
    tree.node_table[slot] = node + 1
    return np.int64(node)


@kernel(**ARENA)
def expand(tree: Arrays, paths: Paths, begin: int, count: int, records: NDArray[np.uint64]) -> None:
    """Give their records, shape (new, words), to the nodes that selection has made for the ``count`` paths
    from row ``begin`` on. If a state is a node already, edges and links lead to that node from now on."""
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
    for path in range(begin, begin + count):
        if paths.leaf[path] >= base:
            paths.leaf[path] = paths.numbers[paths.leaf[path] - base]


@kernel(**ARENA)
def find_or_add(tree: Arrays, records: NDArray[np.uint64], found: Numbers) -> None:
    """Fill in the nodes, ``found`` (n,), of states with these records, shape (n, words). Missing nodes are
    added as FRESH; there must be room."""
    for k in range(len(records)):
        node = find_record(tree.node_table, tree.records, records, k)
        if node < 0:
            node = _add_record(tree, records, k, -1 - node)
            _clear_node(tree.nodes, node)
        found[k] = node


@inlined
def _note_choices(nodes: Table, counts: Numbers, node: int) -> None:
    """Note the role to move in a node whose edges are listed, and where that role's edges begin."""
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
    edges[edge].limit = 100
    edges[edge].child = -1
    edges[edge].prior = 0.5
    edges[edge].share = 1.0


@kernel(**ARENA)
def list_moves(tree: Arrays, opened: Numbers, counts: Numbers, moves: Numbers) -> None:
    """Open those nodes of ``opened`` (n,) for which there is room and in which every role has a move.
    ``counts`` (n, roles) are the numbers of legal moves, ``moves`` holds their ids, node by node."""
    nodes, edges = tree.nodes, tree.edges
    following = 0
    for i in range(len(opened)):
        node = opened[i]
        begin = following
        stuck = False
        for role in range(counts.shape[1]):
            following += counts[i, role]
            stuck = stuck or counts[i, role] == 0
        first = tree.used[0].edges
        if stuck or first + following - begin > len(edges):
            nodes[node].opening = 0
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


_RANDOM_CHOICE = np.uint64((1 << 64) // 16)
_LINES = 6
"""Cache lines of a node's edges that are prefetched; an edge fills most of one."""


@inlined
def _choose_alone(
    tree: Arrays, node: int, secured: int, at_root: bool, fixed: int, rule: SelectionRule
) -> np.int64:
    """The edge that the role to move follows. Here or earlier it has a move by which it is proven to reach
    ``secured``."""
    first = np.int64(tree.nodes[node].first_move)
    count = np.int64(tree.nodes[node].choices)
    if at_root and first <= fixed < first + count:
        return np.int64(fixed)
    if tree.nodes[node].to_move == rule.chance:
        return np.int64(first + below(tree.random, count))
    visits = tree.nodes[node].visits + tree.nodes[node].pending
    eager = (at_root and rule.prior != VALUED) or rule.kind == UCB
    return np.int64(best_edge(tree.edges, tree.random, first, count, visits, secured, eager, rule))


@inlined
def _choose_together(
    tree: Arrays, node: int, at_root: bool, fixed: int, rule: SelectionRule, chosen: Numbers
) -> np.uint64:
    """The joint move by which a path goes on if several roles choose. Their edges are written to ``chosen``
    (roles,)."""
    visits = tree.nodes[node].visits + tree.nodes[node].pending
    first = np.int64(tree.nodes[node].first_edge)
    joint = np.uint64(0)
    for role in range(len(chosen)):
        count = np.int64(tree.counts[node, role])
        if at_root and first <= fixed < first + count:
            edge = np.int64(fixed)
        elif role == rule.chance:
            edge = np.int64(first + below(tree.random, count))
        elif tree.nodes[node].to_move == PAIR:
            edge = matched_edge(tree.edges, tree.random, first, count, visits)
        else:
            edge = _mixed_edge(tree.edges, tree.random, first, count, visits, rule.exploration)
        chosen[role] = edge
        joint = joint * np.uint64(count) + np.uint64(edge - first)
        first += count
    return joint


@inlined
def _mixed_edge(
    edges: Table, random: RandomState, first: np.int64, count: np.int64, visits: int, exploration: float
) -> np.int64:
    """UCB1 if several roles choose. The exploration terms vary at random and some choices are random:
    otherwise roles with similar statistics would move in step, and learn about pairs of moves."""
    if count == 1:
        return np.int64(first)
    edge = np.int64(first + below(random, count))
    best = edge
    if next_random(random) < _RANDOM_CHOICE:
        return best
    weight = exploration * math.sqrt(math.log(visits + 1.0))
    best_score = -1.0
    for _ in range(count):
        tried = edges[edge].visits + edges[edge].pending
        if tried == 0:
            return edge
        term = weight / math.sqrt(tried) * (0.5 + uniform(random))
        if edges[edge].worth + term > best_score:
            best_score = edges[edge].worth + term
            best = edge
        edge = following(edge, first, count)
    return best


@inlined
def _step(
    tree: Arrays, paths: Paths, path: np.int64, rule: SelectionRule, fixed: int, nodes_before: int
) -> bool:
    """Let a path go one step down, and make the node it reaches if it is new. False if there is no room for
    it: the path ends here."""
    nodes, edges, links, used = tree.nodes, tree.edges, tree.links, tree.used
    node = np.int64(paths.leaf[path])
    depth = np.int64(paths.length[path])
    to_move = np.int64(nodes[node].to_move)
    full = used[0].nodes == len(nodes)
    edge = link = np.int64(-1)
    if to_move >= 0:
        secured = np.int64(paths.secured[path, to_move])
        if depth or fixed < 0:
            secured = max(secured, np.int64(nodes[node].bound))
            paths.secured[path, to_move] = secured
        edge = _choose_alone(tree, node, secured, depth == 0, fixed, rule)
        child = np.int64(edges[edge].child)
        if child < 0 and full:
            return False
        paths.edges[path, depth, to_move] = edge
        paths.columns[path, depth] = tree.columns[to_move] + edges[edge].move
        edges[edge].pending += 1
    else:
        paths.secured[path] = 0  # mixed moves depend on all results
        chosen = paths.edges[path, depth]
        joint = _choose_together(tree, node, depth == 0, fixed, rule, chosen)
        link = find_cell_link(tree, node, joint)
        if link < 0:
            if full or used[0].links == len(links):
                return False
            link = _add_link(tree, node, joint)
        child = np.int64(links[link].child)
        paths.links[path, depth] = link
        paths.columns[path, depth] = -1
        for role in range(len(chosen)):
            edges[chosen[role]].pending += 1
    nodes[node].pending += 1
    paths.nodes[path, depth] = node
    paths.length[path] = depth + 1
    if child < 0:
        child = _add_child(tree, paths, path, edge, link, used[0].nodes - nodes_before)
    paths.leaf[path] = child
    prefetch(nodes, child)
    return True


@inlined
def _goes_on(tree: Arrays, paths: Paths, path: np.int64) -> bool:
    """Whether a path goes on below its last node; prefetches that node's edges."""
    nodes = tree.nodes
    node = np.int64(paths.leaf[path])
    if nodes[node].status != OPEN or nodes[node].proven >= 0 or paths.length[path] >= paths.nodes.shape[1]:
        return False
    edge = np.int64(nodes[node].first_move if nodes[node].to_move >= 0 else nodes[node].first_edge)
    for line in range(_LINES):
        prefetch(tree.edges, edge + line)
    return True


@kernel(**ARENA)
def select(
    tree: Arrays, paths: Paths, roots: Numbers, begin: int, count: int, rule: SelectionRule, fixed: int
) -> tuple[int, int]:
    """Walk ``count`` paths to leaves, and make the nodes that they newly reach. Path i begins at the node
    ``roots[i % len(roots)]`` and has row ``begin + i``. At the root, ``fixed`` forces that edge on its role
    (-1: each role chooses).

    Several paths go down side by side, a step of each in turn: while one waits for memory, others go on.

    Returns the number of new nodes (their records are not made yet) and the number of leaves whose moves are
    to be listed.
    """
    nodes, used, going = tree.nodes, tree.used, paths.going
    nodes_before = used[0].nodes
    opens = 0
    end = begin + count
    for first in range(begin, end, ABREAST):
        abreast = min(ABREAST, end - first)
        for k in range(abreast):
            going[k] = first + k
            paths.leaf[first + k] = roots[(first + k - begin) % len(roots)]
            paths.length[first + k] = 0
            paths.secured[first + k] = 0
        while abreast:
            asked = 0
            for k in range(abreast):
                if _goes_on(tree, paths, going[k]):
                    going[asked] = going[k]
                    asked += 1
            abreast = 0
            for k in range(asked):
                if _step(tree, paths, going[k], rule, fixed, nodes_before):
                    going[abreast] = going[k]
                    abreast += 1
        for path in range(first, min(first + ABREAST, end)):
            node = np.int64(paths.leaf[path])
            if nodes[node].status == LEAF and not nodes[node].opening and used[0].edges < len(tree.edges):
                nodes[node].opening = 1
                paths.to_open[opens] = node
                opens += 1
            used[0].depth = max(used[0].depth, paths.length[path])
    return used[0].nodes - nodes_before, opens

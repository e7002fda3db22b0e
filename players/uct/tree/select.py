"""Selection: the compiled loop that walks a batch of paths from the root of the tree to its leaves.

UCT: Kocsis and Szepesvari 2006. Where one role alone chooses: :mod:`players.uct.tree.selection_rules`. Where
two choose at once they do it by regret matching (:mod:`players.uct.tree.regret_matching`), more by
decoupled UCT, each role by its own statistics (Shafiei, Sturtevant and Schaeffer 2009).
"""

from __future__ import annotations

import math

import numpy as np

from players.uct.tree.arrays import ABREAST, LEAF, OPEN, PAIR, Arrays, Numbers, Paths, RandomState, Table
from players.uct.tree.expand import add_child, add_link
from players.uct.tree.regret_matching import find_cell_link, matched_edge
from players.uct.tree.selection_rules import GUESSED, UCB, SelectionRule, below, best_edge, following, uniform
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.jit.prefetch import prefetch
from propnet.jit.random_numbers import next_random

_RANDOM_CHOICE = np.uint64((1 << 64) // 16)
_LINES = 6
"""Cache lines of a node's edges that are prefetched; an edge fills most of one."""


@inlined
def _choose_alone(tree: Arrays, node: int, at_root: bool, fixed: int, rule: SelectionRule) -> np.int64:
    """The edge that the role to move follows."""
    first = np.int64(tree.nodes[node].first_move)
    count = np.int64(tree.nodes[node].choices)
    if at_root and first <= fixed < first + count:
        return np.int64(fixed)
    visits = tree.nodes[node].visits + tree.nodes[node].pending
    eager = (at_root and rule.prior != GUESSED) or rule.kind == UCB
    return np.int64(best_edge(tree.edges, tree.random, first, count, visits, eager, rule))


@inlined
def _choose_together(
    tree: Arrays, node: int, at_root: bool, fixed: int, exploration: float, chosen: Numbers
) -> np.uint64:
    """The joint move by which a path goes on where several roles choose. Their edges are written to
    ``chosen`` (roles,)."""
    visits = tree.nodes[node].visits + tree.nodes[node].pending
    first = np.int64(tree.nodes[node].first_edge)
    joint = np.uint64(0)
    for role in range(len(chosen)):
        count = np.int64(tree.counts[node, role])
        if at_root and first <= fixed < first + count:
            edge = np.int64(fixed)
        elif tree.nodes[node].to_move == PAIR:
            edge = matched_edge(tree.edges, tree.random, first, count, visits)
        else:
            edge = _mixed_edge(tree.edges, tree.random, first, count, visits, exploration)
        chosen[role] = edge
        joint = joint * np.uint64(count) + np.uint64(edge - first)
        first += count
    return joint


@inlined
def _mixed_edge(
    edges: Table, random: RandomState, first: np.int64, count: np.int64, visits: int, exploration: float
) -> np.int64:
    """UCB1 where several roles choose. The exploration terms vary at random and some choices are random:
    otherwise roles with like statistics would move in step, and learn about pairs of moves."""
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
    """Let a path go one step down, and make the node it comes to if it is new. False if there is no room for
    that: the path ends where it is."""
    nodes, edges, links, used = tree.nodes, tree.edges, tree.links, tree.used
    node = np.int64(paths.leaf[path])
    depth = np.int64(paths.length[path])
    to_move = np.int64(nodes[node].to_move)
    full = used[0].nodes == len(nodes)
    edge = link = np.int64(-1)
    if to_move >= 0:
        edge = _choose_alone(tree, node, depth == 0, fixed, rule)
        child = np.int64(edges[edge].child)
        if child < 0 and full:
            return False
        paths.edges[path, depth, to_move] = edge
        paths.columns[path, depth] = tree.columns[to_move] + edges[edge].move
        edges[edge].pending += 1
    else:
        chosen = paths.edges[path, depth]
        joint = _choose_together(tree, node, depth == 0, fixed, rule.exploration, chosen)
        link = find_cell_link(tree, node, joint)
        if link < 0:
            if full or used[0].links == len(links):
                return False
            link = add_link(tree, node, joint)
        child = np.int64(links[link].child)
        paths.links[path, depth] = link
        paths.columns[path, depth] = -1
        for role in range(len(chosen)):
            edges[chosen[role]].pending += 1
    nodes[node].pending += 1
    paths.nodes[path, depth] = node
    paths.length[path] = depth + 1
    if child < 0:
        child = add_child(tree, paths, path, edge, link, used[0].nodes - nodes_before)
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
    tree: Arrays, paths: Paths, roots: Numbers, count: int, rule: SelectionRule, fixed: int
) -> tuple[int, int]:
    """Walk ``count`` paths to leaves, path i from the node ``roots[i % len(roots)]``, and make the nodes that
    they newly reach. At the root, ``fixed`` forces that edge on its role (-1: each role chooses).

    Some paths go down side by side, a step of each in turn: while one waits for memory others go on.

    Returns how many nodes are new (their records are still to be made) and how many leaves are
    to have their moves listed.
    """
    nodes, used, going = tree.nodes, tree.used, paths.going
    nodes_before = used[0].nodes
    opens = 0
    for first in range(0, count, ABREAST):
        abreast = min(ABREAST, count - first)
        for k in range(abreast):
            going[k] = first + k
            paths.leaf[first + k] = roots[(first + k) % len(roots)]
            paths.length[first + k] = 0
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
        for path in range(first, min(first + ABREAST, count)):
            node = np.int64(paths.leaf[path])
            if nodes[node].status == LEAF and not nodes[node].opening and used[0].edges < len(tree.edges):
                nodes[node].opening = 1
                paths.to_open[opens] = node
                opens += 1
            used[0].depth = max(used[0].depth, paths.length[path])
    return used[0].nodes - nodes_before, opens

"""The compiled loops of UCT that go down the tree: selection and expansion.

UCT: Kocsis and Szepesvari 2006. Simultaneous moves: two roles choose by regret matching (see
:mod:`players.uct.tree.regret_matching`), more by decoupled UCT, each role by its own statistics (Shafiei,
Sturtevant and Schaeffer 2009). Leaves are collected many at a time; paths under way count as visits. Where
one role alone chooses: :mod:`players.uct.tree.selection_rules`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import (
    EDGES,
    FRESH,
    LEAF,
    LINKS,
    NODES,
    OPEN,
    OPENED,
    PAIR,
    PEAK,
    SEVERAL,
    Arrays,
    Paths,
    find_link,
)
from players.uct.tree.regret_matching import find_cell_link, matched_edge
from players.uct.tree.selection_rules import UCB, SelectionRule, best_edge, start
from propnet.jit.decorators import inner, kernel
from propnet.jit.prefetch import prefetch
from propnet.jit.splitmix import next_random
from propnet.kernels.record_table import find_node

_LARGEST_TABLE = 1 << 14
"""Joint moves of two roles that choose by regret."""
_RANDOM_CHOICE = np.uint64((1 << 64) // 16)
_ABREAST = 8
"""Paths that go down side by side."""
_LINES = 6
"""Cache lines of a node's edges that are asked for before they are looked at; an edge is most of one."""


@inner
def _clear_node(nodes: Any, node: Any) -> None:
    nodes[node].status = FRESH
    nodes[node].opening = 0
    nodes[node].proven = -1
    nodes[node].bound = -1
    nodes[node].visits = 0
    nodes[node].pending = 0
    nodes[node].first_link = -1
    nodes[node].prior_visits = 0.0
    nodes[node].first_cell = -1
    nodes[node].to_move = 0


@inner
def _mixed_edge(edges: Any, random: Any, first: Any, count: Any, visits: Any, exploration: Any) -> Any:
    """UCB1 where several roles choose: the exploration terms vary at random and some choices
    are random. Else roles with like statistics would choose in step, and learn what their
    moves are worth in pairs."""
    if count == 1:
        return np.int64(first)
    at = first + start(random, count)
    best = at
    if next_random(random) < _RANDOM_CHOICE:
        return best
    weight = exploration * math.sqrt(math.log(visits + 1.0))
    best_score = -1.0
    for _ in range(count):
        tried = edges[at].visits + edges[at].pending
        if tried == 0:
            return at
        term = weight / math.sqrt(tried) * (0.5 + (next_random(random) >> np.uint64(11)) * 2.0**-53)
        if edges[at].worth + term > best_score:
            best_score = edges[at].worth + term
            best = at
        at += 1
        if at == first + count:
            at = first
    return best


@kernel(nogil=True)
def select(tree: Arrays, paths: Paths, root: Any, lanes: Any, rule: SelectionRule, fixed: Any) -> Any:
    """Walk ``lanes`` paths from the root to leaves, and make the nodes that they newly reach. Of the
    root's edges, ``fixed`` is taken by its role (-1: each role chooses).

    Some paths go down side by side, a step of each in turn: while one waits for memory others go on.

    Returns how many nodes are new (their records are still to be made) and how many leaves are
    to have their moves listed.
    """
    roles = tree.counts.shape[1]
    nodes, edges, links, cells = tree.nodes, tree.edges, tree.links, tree.cells
    max_depth = paths.nodes.shape[1]
    before = np.int64(tree.used[NODES])
    opens = 0
    going = np.empty(_ABREAST, np.int64)
    for first in range(0, lanes, _ABREAST):
        abreast = min(_ABREAST, lanes - first)
        for k in range(abreast):
            going[k] = first + k
            paths.leaf[first + k] = root
            paths.length[first + k] = 0
        while abreast:
            kept = 0
            for k in range(abreast):
                lane = going[k]
                node = np.int64(paths.leaf[lane])
                if nodes[node].status == OPEN and nodes[node].proven < 0 and paths.length[lane] < max_depth:
                    going[kept] = lane
                    kept += 1
                    edge = np.int64(
                        nodes[node].first_move if nodes[node].to_move >= 0 else nodes[node].first_edge
                    )
                    for line in range(_LINES):
                        prefetch(edges, edge + line)
            abreast = kept
            kept = 0
            for k in range(abreast):
                lane = going[k]
                node = np.int64(paths.leaf[lane])
                depth = np.int64(paths.length[lane])
                visits = nodes[node].visits + nodes[node].pending
                to_move = np.int64(nodes[node].to_move)
                place = np.int64(0)
                if to_move >= 0:
                    edge = np.int64(nodes[node].first_move)
                    count = np.int64(nodes[node].choices)
                    if depth == 0 and edge <= fixed < edge + count:
                        place = np.int64(fixed)
                    else:
                        eager = depth == 0 or rule.kind == UCB
                        place = best_edge(edges, tree.random, edge, count, visits, eager, rule)
                    child = np.int64(edges[place].child)
                    if child < 0 and tree.used[NODES] == len(nodes):
                        continue
                    paths.edges[lane, depth, to_move] = place
                    paths.columns[lane, depth] = tree.columns[to_move] + edges[place].move
                    edges[place].pending += 1
                else:
                    edge = np.int64(nodes[node].first_edge)
                    joint = np.uint64(0)
                    for role in range(roles):
                        count = np.int64(tree.counts[node, role])
                        if depth == 0 and edge <= fixed < edge + count:
                            chosen = np.int64(fixed)
                        elif to_move == PAIR:
                            chosen = matched_edge(edges, tree.random, edge, count, visits)
                        else:
                            chosen = _mixed_edge(edges, tree.random, edge, count, visits, rule.exploration)
                        paths.edges[lane, depth, role] = chosen
                        joint = joint * np.uint64(count) + np.uint64(chosen - edge)
                        edge += count
                    link = find_cell_link(nodes, cells, tree.link_table, links, node, joint)
                    full = tree.used[NODES] == len(nodes) or tree.used[LINKS] == len(links)
                    if link < 0 and full:
                        continue
                    if link < 0:
                        slot = -1 - find_link(tree.link_table, links, node, joint)
                        link = tree.used[LINKS]
                        tree.used[LINKS] += 1
                        tree.link_table[slot] = link + 1
                        links[link].parent = node
                        links[link].joint = joint
                        links[link].child = -1
                        links[link].next = nodes[node].first_link
                        nodes[node].first_link = link
                        if nodes[node].first_cell >= 0:
                            cells[nodes[node].first_cell + np.int64(joint)].link = link
                    child = np.int64(links[link].child)
                    place = -1 - link
                    paths.links[lane, depth] = link
                    paths.columns[lane, depth] = -1
                    for role in range(roles):
                        edges[paths.edges[lane, depth, role]].pending += 1
                nodes[node].pending += 1
                paths.nodes[lane, depth] = node
                paths.length[lane] = depth + 1
                if child < 0:
                    child = np.int64(tree.used[NODES])
                    tree.used[NODES] += 1
                    _clear_node(nodes, child)
                    new = child - before
                    edge = np.int64(nodes[node].first_edge)
                    for role in range(roles):
                        taken = edge
                        if to_move < 0 or role == to_move:
                            taken = np.int64(paths.edges[lane, depth, role])
                        paths.new_moves[new, role] = edges[taken].move
                        edge += tree.counts[node, role]
                    if place >= 0:
                        edges[place].child = child
                    else:
                        links[-1 - place].child = child
                    paths.parents[new] = node
                    paths.places[new] = place
                paths.leaf[lane] = child
                prefetch(nodes, child)
                going[kept] = lane
                kept += 1
            abreast = kept
        for lane in range(first, min(first + _ABREAST, lanes)):
            node = np.int64(paths.leaf[lane])
            full = tree.used[EDGES] >= len(tree.edges)
            if nodes[node].status == LEAF and not nodes[node].opening and not full:
                nodes[node].opening = 1
                paths.to_open[opens] = node
                opens += 1
            tree.used[PEAK] = max(tree.used[PEAK], paths.length[lane])
    return tree.used[NODES] - before, opens


@kernel(nogil=True)
def settle(tree: Arrays, paths: Paths, lanes: Any, records: NDArray[np.uint64]) -> None:
    """Give the nodes that ``select`` made their records (shape (new, words)); what leads to a state
    that is a node already leads to that node from now on."""
    new = len(records)
    base = tree.used[NODES] - new
    tree.used[NODES] = base
    place = np.empty(new, np.int32)
    for k in range(new):
        node = find_node(tree.node_table, tree.records, records, k)
        if node < 0:
            slot = -1 - node
            node = tree.used[NODES]
            tree.used[NODES] += 1
            for w in range(records.shape[1]):
                tree.records[node, w] = records[k, w]
            tree.node_table[slot] = node + 1
        place[k] = node
        if paths.places[k] >= 0:
            tree.edges[paths.places[k]].child = node
        else:
            tree.links[-1 - paths.places[k]].child = node
    for lane in range(lanes):
        if paths.leaf[lane] >= base:
            paths.leaf[lane] = place[paths.leaf[lane] - base]


@kernel(nogil=True)
def list_moves(
    tree: Arrays, nodes: NDArray[np.int32], counts: NDArray[np.int32], moves: NDArray[np.int32]
) -> None:
    """Open nodes: ``counts`` (n, roles) legal moves of each role, ``moves`` their ids, node by node."""
    roles = counts.shape[1]
    at = 0
    for i in range(len(nodes)):
        node = nodes[i]
        total = 0
        free = 0
        to_move = 0
        table = np.int64(1)
        stuck = False
        for role in range(roles):
            total += counts[i, role]
            stuck = stuck or counts[i, role] == 0
            table = min(table * counts[i, role], np.int64(_LARGEST_TABLE + 1))
            if counts[i, role] > 1:
                free += 1
                to_move = role
        tree.nodes[node].opening = 0
        first = tree.used[EDGES]
        if not stuck and first + total <= len(tree.edges):
            tree.used[EDGES] += total
            tree.nodes[node].first_edge = first
            if free > 1:
                tree.nodes[node].to_move = PAIR if free == 2 and table <= _LARGEST_TABLE else SEVERAL
            else:
                tree.nodes[node].to_move = to_move
            tree.nodes[node].choices = counts[i, to_move]
            edge = first
            for role in range(roles):
                if role == to_move:
                    tree.nodes[node].first_move = edge
                tree.counts[node, role] = counts[i, role]
                edge += counts[i, role]
            tree.opened[tree.used[OPENED]] = node
            tree.used[OPENED] += 1
            for k in range(total):
                tree.edges[first + k].move = moves[at + k]
                tree.edges[first + k].visits = 0
                tree.edges[first + k].pending = 0
                tree.edges[first + k].total = 0.0
                tree.edges[first + k].worth = 0.0 if tree.nodes[node].to_move == PAIR else 0.5
                tree.edges[first + k].best = 0
                tree.edges[first + k].proven = -1
                tree.edges[first + k].child = -1
                tree.edges[first + k].prior = 0.5
                tree.edges[first + k].share = 1.0
            tree.nodes[node].status = OPEN
        at += total

"""Backing up: the compiled loop that books results along the paths, and the proven values that follow.

Proven values: Winands, Bjornsson and Saito 2008; bounds: Cazenave and Saffidine 2010. Nodes in which two
roles choose: :mod:`players.uct.tree.regret_matching`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import BEST, OPEN, PAIR, Arrays, Numbers, Paths, Table
from players.uct.tree.regret_matching import book_pair, give_cells, is_time_to_prove, prove_pair, wants_cells
from players.uct.tree.selection_rules import (
    NST,
    VALUED,
    SelectionRule,
    mean_prior,
    note_move,
    pair_row,
    set_priors,
)
from players.uct.tree.values import raise_value
from propnet.jit.decorators import ARENA, inlined, kernel
from propnet.jit.intrinsics import prefetch

_RENEW = 4
"""Priors are computed again when a node has this many visits, and each time the visits have doubled."""


@kernel(**ARENA)
def average(
    goals: NDArray[np.int16],
    each: int,
    unknown: int,
    rows: NDArray[np.int64],
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
) -> None:
    """Write the means, 0..1, of every ``each`` rows of ``goals`` (n * each, roles; -1 for a role
    without a goal counts as ``unknown``) to ``results[rows[i]]``, and role 0's best to ``bests``."""
    for i in range(len(rows)):
        for role in range(goals.shape[1]):
            total = 0
            best = 0
            for k in range(i * each, (i + 1) * each):
                goal = goals[k, role]
                if goal < 0:
                    goal = unknown
                total += goal
                best = max(best, goal)
            results[rows[i], role] = total / (100.0 * each)
            if role == 0:
                bests[rows[i]] = best / 100.0


@inlined
def _prefetch_nodes(tree: Arrays, paths: Paths, path: int) -> None:
    """Prefetch the nodes of a path."""
    for depth in range(paths.length[path]):
        prefetch(tree.nodes, paths.nodes[path, depth])


@inlined
def _prefetch_edges(tree: Arrays, paths: Paths, path: int, prior: int) -> None:
    """Prefetch the edges of a path, and the averages of its pairs of moves."""
    for depth in range(paths.length[path]):
        to_move = np.int64(tree.nodes[paths.nodes[path, depth]].to_move)
        prefetch(tree.edges, paths.edges[path, depth, max(to_move, np.int64(0))])
        if prior == NST and depth:
            before, column = paths.columns[path, depth - 1], paths.columns[path, depth]
            prefetch(tree.pairs, pair_row(tree.pairs, before, column))


@inlined
def _book_edge(
    edges: Table, edge: int, result: float, best: float, greed: float, prior_visits: float, minimax: float
) -> None:
    """Book a result of a move: the mean, 0..1, of several results of which ``best`` was the best."""
    edges[edge].visits += 1
    edges[edge].pending -= 1
    edges[edge].total += result
    mean = (edges[edge].total + prior_visits * edges[edge].prior) / (edges[edge].visits + prior_visits)
    if greed > 0.0:
        edges[edge].best = max(edges[edge].best, np.uint16(best * BEST + 0.5))
        mean += greed * (edges[edge].best / BEST - mean)
    mean += minimax * (edges[edge].prior - mean)
    edges[edge].worth = np.float32(mean)


@inlined
def _learn_priors(
    tree: Arrays, paths: Paths, path: int, depth: int, result: float, rule: SelectionRule
) -> None:
    """Note the result of a step for priors; those of its node are computed again now and then."""
    node = paths.nodes[path, depth]
    before = np.int64(paths.columns[path, depth - 1] if depth else -1)
    note_move(tree, before, np.int64(paths.columns[path, depth]), result)
    visits = tree.nodes[node].visits
    if visits >= _RENEW and visits & (visits - 1) == 0:
        set_priors(tree, node, before, mean_prior(tree, node), rule)


@inlined
def _limit(nodes: Table, edges: Table, node: int) -> int:
    """The most that the role to move may still reach, by the node's edges."""
    first, most = np.int64(nodes[node].first_move), 0
    for edge in range(first, first + nodes[node].choices):
        most = max(most, edges[edge].limit)
    return most


@inlined
def _set_bounds(nodes: Table, node: int, bound: int, limit: int) -> None:
    """Set what the role to move reaches at least and at most. If that is the same, the node is proven."""
    nodes[node].bound, nodes[node].limit = bound, limit
    if bound >= limit:
        nodes[node].proven = 100 - bound if nodes[node].to_move else bound


@kernel(**ARENA)
def prove_opened(tree: Arrays, opened: Numbers) -> None:
    """Update the bounds of those nodes that are open and have a role to move, from their children's proven
    values."""
    nodes, edges = tree.nodes, tree.edges
    for i in range(len(opened)):
        node = opened[i]
        if nodes[node].status != OPEN or nodes[node].to_move < 0:
            continue
        bound = 0
        for edge in range(nodes[node].first_move, nodes[node].first_move + nodes[node].choices):
            if edges[edge].proven >= 0:
                bound = max(bound, edges[edge].limit)
        _set_bounds(nodes, node, bound, _limit(nodes, edges, node))


@inlined
def _bounds(nodes: Table, node: int) -> tuple[np.int64, np.int64]:
    """Role 0's result under best play, at least and at most."""
    if nodes[node].proven >= 0:
        return np.int64(nodes[node].proven), np.int64(nodes[node].proven)
    bound, limit = np.int64(nodes[node].bound), np.int64(nodes[node].limit)
    return (100 - limit, 100 - bound) if nodes[node].to_move == 1 else (bound, limit)


@inlined
def _prove_path(tree: Arrays, paths: Paths, path: int) -> None:
    """Update the proven values and bounds above the leaf of a path."""
    nodes, edges = tree.nodes, tree.edges
    node = np.int64(paths.leaf[path])
    for depth in range(paths.length[path] - 1, -1, -1):
        parent = np.int64(paths.nodes[path, depth])
        low, high = _bounds(nodes, node)
        node = parent
        if low == 0 and high == 100:
            continue
        to_move = np.int64(nodes[parent].to_move)
        open_ = nodes[parent].proven < 0
        if to_move >= 0:
            edge = np.int64(paths.edges[path, depth, to_move])
            if low == high:
                edges[edge].proven = low
            least, most = (100 - high, 100 - low) if to_move == 1 else (low, high)
            bound = max(least, np.int64(nodes[parent].bound))
            if open_ and (most < edges[edge].limit or bound > nodes[parent].bound):
                edges[edge].limit = min(most, np.int64(edges[edge].limit))
                _set_bounds(nodes, parent, bound, _limit(nodes, edges, parent))
        elif (
            to_move == PAIR
            and open_
            and low == high
            and is_time_to_prove(tree, parent, tree.links[paths.links[path, depth]].joint)
        ):
            prove_pair(tree, parent)


@kernel(**ARENA)
def back_up(
    tree: Arrays,
    paths: Paths,
    rows: NDArray[np.int64],
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
    greed: float,
    rule: SelectionRule,
) -> None:
    """Book ``results`` (n, roles; 0..1) along the paths in ``rows`` (n,), and proven values with them.
    ``bests`` (n,) are the best single results behind role 0's means; ``greed`` is their weight in a move's
    worth.

    If the role to move in a node is proven to reach more than the result, or less, that bound is booked above
    the node (score bounded search: Cazenave and Saffidine 2010). ``results`` is overwritten."""
    count, roles = results.shape
    nodes, edges = tree.nodes, tree.edges
    for k in range(-2, count):
        # Prefetch for later iterations: nodes two paths ahead, their edges one path ahead.
        if k + 2 < count:
            _prefetch_nodes(tree, paths, rows[k + 2])
        if 0 <= k + 1 < count:
            _prefetch_edges(tree, paths, rows[k + 1], rule.prior)
        if k < 0:
            continue
        path = rows[k]
        length, leaf = paths.length[path], np.int64(paths.leaf[path])
        to_move = np.int64(nodes[leaf].to_move)
        valued = rule.prior == VALUED
        if nodes[leaf].status == OPEN and nodes[leaf].visits == 0 and to_move >= 0 and not valued:
            before = np.int64(paths.columns[path, length - 1] if length else -1)
            set_priors(tree, leaf, before, results[k, to_move], rule)
            nodes[leaf].opening = 0
        child = leaf
        for depth in range(length - 1, -1, -1):
            node = paths.nodes[path, depth]
            if valued:
                valued = raise_value(tree, paths, path, depth, child, rule.chance)
                child = np.int64(node)
            to_move = np.int64(nodes[node].to_move)
            if nodes[node].opening and to_move >= 0 and rule.prior != VALUED:
                # Paths that ended here are still under way, or were called off.
                before = np.int64(paths.columns[path, depth - 1] if depth else -1)
                set_priors(tree, np.int64(node), before, results[k, to_move], rule)
                nodes[node].opening = 0
            nodes[node].visits += 1
            nodes[node].pending -= 1
            if to_move >= 0:
                result, prior_visits = results[k, to_move], nodes[node].prior_visits
                edge, minimax = np.int64(paths.edges[path, depth, to_move]), rule.minimax
                _book_edge(edges, edge, result, bests[k], greed, prior_visits, minimax)
                if rule.prior == NST:
                    _learn_priors(tree, paths, path, depth, result, rule)
            elif to_move == PAIR:
                if wants_cells(tree, node):
                    give_cells(tree, node)
                book_pair(tree, node, paths.edges[path, depth], results[k])
            else:
                for role in range(roles):
                    edge = paths.edges[path, depth, role]
                    _book_edge(edges, edge, results[k, role], bests[k], greed, 0.0, 0.0)
            if to_move >= 0 and (nodes[node].bound > 0 or nodes[node].limit < 100):
                bound, limit = nodes[node].bound / 100.0, nodes[node].limit / 100.0
                results[k, to_move] = min(max(results[k, to_move], bound), limit)
                if roles == 2:
                    results[k, 1 - to_move] = 1.0 - results[k, to_move]
        _prove_path(tree, paths, path)

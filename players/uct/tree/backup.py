"""The compiled loops of UCT that go up the tree: results are booked, and what they prove.

Proven values: Winands, Bjornsson and Saito 2008; bounds: Cazenave and Saffidine 2010. Where two roles
choose: :mod:`players.uct.tree.regret_matching`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from players.uct.tree.arrays import BEST, OPEN, PAIR, Arrays, Paths
from players.uct.tree.regret_matching import book_pair, give_cells, is_time_to_prove, prove_pair, wants_cells
from players.uct.tree.selection_rules import NST, SelectionRule, mean_prior, note_move, pair_row, set_priors
from propnet.jit.decorators import inner, kernel
from propnet.jit.prefetch import prefetch

_RENEW = 4
"""Priors are looked up anew when a node has so many visits, and when they have doubled."""


@inner
def _prove(nodes: Any, edges: Any, node: Any) -> Any:
    """Whether the node's value now follows from its edges; sets ``proven`` if so, and ``bound``."""
    first = np.int64(nodes[node].first_move)
    to_move = nodes[node].to_move
    complete = True
    best = -1
    for edge in range(first, first + nodes[node].choices):
        value = edges[edge].proven
        if value < 0:
            complete = False
            continue
        if to_move:
            value = 100 - value
        best = max(best, value)
    nodes[node].bound = best
    if best == 100 or complete:
        nodes[node].proven = 100 - best if to_move else best
        return True
    return False


@kernel(nogil=True)
def average(
    goals: NDArray[np.int16],
    each: Any,
    unknown: Any,
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


@inner
def _book_edge(edges: Any, edge: Any, result: Any, best: Any, greed: Any, prior_visits: Any) -> None:
    edges[edge].visits += 1
    edges[edge].pending -= 1
    edges[edge].total += result
    visits = edges[edge].visits
    mean = (edges[edge].total + prior_visits * edges[edge].prior) / (visits + prior_visits)
    if greed > 0.0:
        edges[edge].best = max(edges[edge].best, np.uint16(best * BEST + 0.5))
        mean += greed * (edges[edge].best / BEST - mean)
    edges[edge].worth = np.float32(mean)


@kernel(nogil=True)
def backup(
    tree: Arrays,
    paths: Paths,
    lanes: Any,
    results: NDArray[np.float64],
    bests: NDArray[np.float64],
    greed: Any,
    rule: SelectionRule,
) -> None:
    """Book ``results`` (lanes, roles; 0..1) along the paths, and what is proven with them. ``bests``
    (lanes,) are the best of the results that each of role 0's is the mean of; ``greed`` is how much
    of a move's worth comes from the best of these.

    Above a node whose to_move is proven to reach more than the result, that bound is booked
    (score bounded search: Cazenave and Saffidine 2010). ``results`` is overwritten."""
    roles = results.shape[1]
    nodes, edges, cells, counts = tree.nodes, tree.edges, tree.cells, tree.counts
    averages, pairs = tree.averages, tree.pairs
    rows_of_pairs = pairs.reshape(-1)
    for lane in range(-2, lanes):
        # What comes next is asked for now: nodes two paths ahead, their edges one path ahead.
        if lane + 2 < lanes:
            for depth in range(paths.length[lane + 2]):
                prefetch(nodes, paths.nodes[lane + 2, depth])
        if 0 <= lane + 1 < lanes:
            for depth in range(paths.length[lane + 1]):
                to_move = np.int64(nodes[paths.nodes[lane + 1, depth]].to_move)
                prefetch(edges, paths.edges[lane + 1, depth, max(to_move, np.int64(0))])
                if rule.prior == NST and depth:
                    before, column = paths.columns[lane + 1, depth - 1], paths.columns[lane + 1, depth]
                    prefetch(rows_of_pairs, 2 * pair_row(pairs, before, column))
        if lane < 0:
            continue
        node = np.int64(paths.leaf[lane])
        chooser = np.int64(nodes[node].to_move)
        if nodes[node].status == OPEN and nodes[node].visits == 0 and chooser >= 0:
            length = paths.length[lane]
            before = np.int64(paths.columns[lane, length - 1] if length else -1)
            set_priors(tree, node, before, results[lane, chooser], rule)
        for depth in range(paths.length[lane] - 1, -1, -1):
            node = paths.nodes[lane, depth]
            nodes[node].visits += 1
            nodes[node].pending -= 1
            to_move = np.int64(nodes[node].to_move)
            if to_move >= 0:
                edge = paths.edges[lane, depth, to_move]
                prior_visits = nodes[node].prior_visits
                _book_edge(edges, edge, results[lane, to_move], bests[lane], greed, prior_visits)
                if rule.prior == NST:
                    before = np.int64(paths.columns[lane, depth - 1] if depth else -1)
                    column = np.int64(paths.columns[lane, depth])
                    note_move(averages, pairs, before, column, results[lane, to_move])
                    visits = nodes[node].visits
                    if visits >= _RENEW and visits & (visits - 1) == 0:
                        set_priors(tree, node, before, mean_prior(nodes, edges, node), rule)
            elif to_move == PAIR:
                if wants_cells(nodes, counts, node, len(cells)):
                    give_cells(tree, node)
                book_pair(nodes, edges, cells, counts, node, paths.edges[lane, depth], results[lane])
            else:
                for role in range(roles):
                    edge = paths.edges[lane, depth, role]
                    _book_edge(edges, edge, results[lane, role], bests[lane], greed, 0.0)
            bound = nodes[node].bound / 100.0
            if bound > 0.0 and results[lane, to_move] < bound:
                results[lane, to_move] = bound
                if roles == 2:
                    results[lane, 1 - to_move] = 1.0 - bound
        node = paths.leaf[lane]
        for depth in range(paths.length[lane] - 1, -1, -1):
            if nodes[node].proven < 0:
                break
            parent = paths.nodes[lane, depth]
            to_move = np.int64(nodes[parent].to_move)
            unknown = nodes[parent].proven < 0
            if to_move == PAIR and unknown:
                joint = tree.links[paths.links[lane, depth]].joint
                if not is_time_to_prove(nodes, cells, counts, parent, joint):
                    break
                if not prove_pair(tree, parent):
                    break
                node = parent
                continue
            if to_move < 0:
                break
            edges[paths.edges[lane, depth, to_move]].proven = nodes[node].proven
            if nodes[parent].proven < 0 and not _prove(nodes, edges, parent):
                break
            node = parent
